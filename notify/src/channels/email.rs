//! A mail, as text and with looks; what people chose is escaped by the template.
//! It links nowhere and loads nothing.

use crate::words::{cut, facts, headline, in_a_line, moment, severity, since};
use askama::Template;
use model::{Email, Mail, Notification, NotificationState, Recipient};
use std::cmp::Reverse;

#[derive(Template)]
#[template(path = "alarm.html")]
struct Page<'a> {
    headline: &'a str,
    message: &'a str,
    colour: &'static str,
    facts: &'a [(&'static str, String)],
    more_title: &'static str,
    more: &'a [(String, String)],
    why: &'a str,
}

const MORE: &str = "More of this alarm, in the order in which it came";
/// Of each message that goes along; notices are the longest.
const CHARACTERS: usize = 2500;

/// All of it in one mail, what matters most at length. None: the recipient's value is no
/// address.
pub fn mail(
    recipient: &Recipient,
    notification: &Notification,
    more: &[Notification],
) -> Option<Mail> {
    let to = Email::parse(recipient.value.expose()).ok()?;
    let mut all: Vec<&Notification> = [notification].into_iter().chain(more).collect();
    let notification = all.remove(gravest(&all));
    let more: Vec<(String, String)> = all.into_iter().map(entry).collect();
    let headline = match more.len() {
        0 => headline(notification),
        count => format!("{}, and {count} more", headline(notification)),
    };
    let facts = facts(notification);
    let why = format!(
        "You get this because alarms of \"{}\" are told to this address.",
        notification.instance_name
    );
    let page = Page {
        headline: &headline,
        message: &notification.message,
        colour: colour(notification.state),
        facts: &facts,
        more_title: MORE,
        more: &more,
        why: &why,
    };
    let html = page.render().ok();
    let lines: Vec<String> = facts.iter().map(|(name, fact)| format!("{name}: {fact}")).collect();
    let mut parts = vec![notification.message.clone(), lines.join("\n")];
    if !more.is_empty() {
        parts.push(format!("{MORE}:"));
        parts.extend(more.iter().map(|(headline, message)| format!("{headline}\n{message}")));
    }
    parts.push(why);
    let text = parts.join("\n\n") + "\n";
    Some(Mail { to, subject: format!("[Castellan] {headline}"), text, html })
}

/// What is not over is graver than what is, and of those alike the last one counts.
fn gravest(all: &[&Notification]) -> usize {
    let is_over = |at: usize| {
        let of = all[at].incident();
        let mut later = all[at..].iter().filter(|it| it.state == NotificationState::Resolved);
        later.any(|it| it.incident() == of)
    };
    let grave = |at: &usize| (!is_over(*at), Reverse(severity(all[*at])), *at);
    (0..all.len()).max_by_key(grave).unwrap_or_default()
}

/// The state, with its time, and the message: in a line, lest it look like several.
fn entry(of: &Notification) -> (String, String) {
    let at = since(of).map(|at| format!(", {}", moment(at))).unwrap_or_default();
    (headline(of) + &at, cut(&in_a_line(&of.message), CHARACTERS))
}

fn colour(state: NotificationState) -> &'static str {
    match state {
        NotificationState::Triggered => "#d32f2f",
        NotificationState::Reminder => "#f57c00",
        NotificationState::Resolved => "#388e3c",
        NotificationState::Test => "#1976d2",
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{
        behind, hostile, notice, now, recipient, reminder, resolved, test, triggered,
    };
    use super::*;
    use model::{Maintenance, RecipientType};

    fn mail(notification: &Notification, more: &[Notification]) -> Mail {
        let recipient = recipient(RecipientType::Email, "ada@example.com");
        super::mail(&recipient, notification, more).unwrap()
    }

    fn shown(what: &str, mail: Mail) -> String {
        let Mail { to, subject, text, html } = mail;
        let (to, html) = (to.as_str(), html.unwrap());
        format!("# {what}\n\nTo: {to}\nSubject: {subject}\n\n{text}\n{html}\n\n")
    }

    #[test]
    fn mails_in_every_state() {
        let shown = |it: &Notification| shown(it.state.as_str(), mail(it, &[]));
        let all = [triggered(), resolved(), reminder(), test()];
        insta::assert_snapshot!("email", all.iter().map(shown).collect::<String>());
    }

    /// One that begins and is over, as the same incident.
    fn over(of: Notification) -> [Notification; 2] {
        let state = NotificationState::Resolved;
        let over = Notification { state, resolved_at: Some(now()), ..of.clone() };
        [of, over]
    }

    #[test]
    fn several_in_one_mail() {
        let [begun, over] = over(behind("orders"));
        let mail = mail(&begun, &[behind("billing"), over]);
        insta::assert_snapshot!("several", shown("several", mail));
    }

    #[test]
    fn what_goes_on_is_told_before_what_is_over() {
        let check = |all: &[Notification], expected: &str| {
            let subject = mail(&all[0], &all[1..]).subject;
            assert_eq!(subject, format!("[Castellan] {expected}"));
        };
        let ([begun, over], other) = (over(behind("a")), behind("b"));
        let told = "Triggered: consumer_lag on \"prod\" group b, and 1 more";
        check(&[over.clone(), other.clone()], told);
        check(&[other, over.clone()], told);
        check(&[begun, over], "Resolved: consumer_lag on \"prod\" group a, and 1 more");
        let emergency = notice(1, Maintenance::Emergency);
        let mail = mail(&emergency, &[notice(2, Maintenance::Planned)]);
        assert!(mail.text.starts_with(&emergency.message), "{}", mail.text);
    }

    #[test]
    fn what_goes_along_is_short_enough_for_a_mail_and_a_notice_is_whole() {
        let hostile = mail(&triggered(), &vec![hostile(); 50]);
        assert!(hostile.text.len() < 1_000_000 && hostile.html.unwrap().len() < 2_000_000);
        let long = Notification { message: "x".repeat(2100), ..notice(1, Maintenance::Planned) };
        let text = mail(&notice(2, Maintenance::Emergency), std::slice::from_ref(&long)).text;
        assert!(text.contains(&long.message), "{text}");
    }

    #[test]
    fn names_are_no_markup() {
        let html =
            mail(&triggered(), &[hostile()]).html.unwrap() + &mail(&hostile(), &[]).html.unwrap();
        for markup in ["<b>", "<script>", "<img", "</td><img"] {
            assert!(!html.contains(markup), "{html}");
        }
        assert!(html.contains("script&#62;"), "{html}");
    }
}
