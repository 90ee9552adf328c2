//! A mail, as text and with looks; what people chose is escaped by the template.
//! It links nowhere and loads nothing.

use crate::words::{facts, headline};
use askama::Template;
use model::{Email, Mail, Notification, NotificationState, Recipient};

#[derive(Template)]
#[template(path = "alarm.html")]
struct Page<'a> {
    headline: &'a str,
    message: &'a str,
    colour: &'static str,
    facts: &'a [(&'static str, String)],
    why: &'a str,
}

/// None: the recipient's value is no address.
pub fn mail(recipient: &Recipient, notification: &Notification) -> Option<Mail> {
    let to = Email::parse(recipient.value.expose()).ok()?;
    let headline = headline(notification);
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
        why: &why,
    };
    let html = page.render().ok();
    let lines: Vec<String> = facts.iter().map(|(name, fact)| format!("{name}: {fact}")).collect();
    Some(Mail {
        to,
        subject: format!("[Castellan] {headline}"),
        text: format!("{}\n\n{}\n\n{why}\n", notification.message, lines.join("\n")),
        html,
    })
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
    use super::super::samples::{hostile, recipient, reminder, resolved, test, triggered};
    use super::*;
    use model::RecipientType;

    fn mail(notification: &Notification) -> Mail {
        super::mail(&recipient(RecipientType::Email, "ada@example.com"), notification).unwrap()
    }

    #[test]
    fn mails_in_every_state() {
        let shown = |notification: &Notification| {
            let Mail { to, subject, text, html } = mail(notification);
            let html = html.unwrap();
            format!(
                "# {}\n\nTo: {}\nSubject: {subject}\n\n{text}\n{html}\n\n",
                notification.state.as_str(),
                to.as_str()
            )
        };
        let all = [triggered(), resolved(), reminder(), test()];
        insta::assert_snapshot!("email", all.iter().map(shown).collect::<String>());
    }

    #[test]
    fn names_are_no_markup() {
        let html = mail(&hostile()).html.unwrap();
        for markup in ["<b>", "<script>", "<img", "</td><img"] {
            assert!(!html.contains(markup), "{html}");
        }
        assert!(html.contains("script&#62;"), "{html}");
    }
}
