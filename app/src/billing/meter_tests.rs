//! Histories and the lines they make, by hand.

use super::*;
use model::{AccountId, Cents, InstanceId, InstanceName, PlanName, Tags};

/// `time change name plan cents tags`, one instance an entry of the outer list.
fn history(instances: &[&[&str]]) -> Vec<HistoryEntry> {
    let entry = |(n, text): (i64, &&str)| {
        let words: Vec<&str> = text.split(' ').collect();
        let tags = words.get(5).map_or(vec![], |tags| tags.split(',').map(Into::into).collect());
        HistoryEntry {
            instance_id: InstanceId(n),
            account_id: AccountId(uuid()),
            at: words[0].parse().unwrap(),
            change: words[1].parse().unwrap(),
            name: InstanceName::parse(words[2]).unwrap(),
            plan: PlanName(words[3].into()),
            price: Cents(words[4].parse().unwrap()),
            tags: Tags::parse(tags).unwrap(),
        }
    };
    let numbered = (1..).zip(instances);
    numbered.flat_map(|(n, entries)| entries.iter().map(move |text| entry((n, text)))).collect()
}

fn uuid() -> uuid::Uuid {
    "00000000-0000-0000-0000-000000000001".parse().unwrap()
}

/// The month's lines as `id plan name tags from to cents`.
fn check(instances: &[&[&str]], month: &str, until: &str, expected: &[&str]) {
    let month: Month = month.parse().unwrap();
    let until = if until.is_empty() { month.end() } else { until.parse().unwrap() };
    let made: Vec<String> = lines(&history(instances), month, until)
        .iter()
        .map(|line| {
            let InvoiceLine { instance_id, amount, from, to, name, plan, tags } = line;
            let tags = tags.join(",");
            format!("{instance_id} {plan} {name} {tags} {from} {to} {}", amount.0)
        })
        .collect();
    assert_eq!(made, expected, "{instances:#?}");
}

#[test]
fn a_month_costs_its_price_and_half_of_it_half() {
    let whole: &[&str] = &["2026-10-05T00:00:00Z created a mouse-1 9900 x,y"];
    check(
        &[whole],
        "2026-11",
        "",
        &["1 mouse-1 a x,y 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 9900"],
    );
    let half = "1 mouse-1 a x,y 2026-11-01T00:00:00Z 2026-11-16T00:00:00Z 4950";
    check(&[whole], "2026-11", "2026-11-16T00:00:00.9Z", &[half]);
    check(&[whole], "2026-09", "", &[]);
}

#[test]
fn a_plan_change_begins_a_line_and_a_rename_does_not() {
    check(
        &[&[
            "2026-11-01T00:00:00Z created a mouse-1 9900",
            "2026-11-11T00:00:00Z changed b mouse-1 9900 x",
            "2026-11-16T00:00:00Z changed c bat-3 52500 y",
            "2026-11-21T00:00:00Z deleted c bat-3 52500 y",
        ]],
        "2026-11",
        "",
        &[
            "1 mouse-1 b x 2026-11-01T00:00:00Z 2026-11-16T00:00:00Z 4950",
            "1 bat-3 c y 2026-11-16T00:00:00Z 2026-11-21T00:00:00Z 8750",
        ],
    );
}

#[test]
fn names_are_those_of_the_last_second() {
    let moved: &[&str] = &[
        "2026-10-01T00:00:00Z created a mouse-1 9900",
        "2026-11-01T00:00:00Z changed b mouse-1 9900",
        "2026-11-30T23:59:59.999Z changed c mouse-1 9900",
        "2026-12-01T00:00:00Z changed d mouse-1 9900",
    ];
    let line = |name: &str, from: &str, to: &str| {
        format!("1 mouse-1 {name}  2026-{from}-01T00:00:00Z 2026-{to}-01T00:00:00Z 9900")
    };
    check(&[moved], "2026-10", "", &[&line("a", "10", "11")]);
    check(&[moved], "2026-11", "", &[&line("c", "11", "12")]);
}

#[test]
fn of_one_second_the_last_counts() {
    // There and back again: the plan never changed as far as seconds tell.
    check(
        &[&[
            "2026-11-01T00:00:00Z created a mouse-1 9900",
            "2026-11-11T00:00:00.1Z changed a bat-1 17500",
            "2026-11-11T00:00:00.2Z changed a mouse-1 9900",
        ]],
        "2026-11",
        "",
        &["1 mouse-1 a  2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 9900"],
    );
    // Made and deleted, or renamed and deleted, in one.
    check(
        &[
            &[
                "2026-11-11T00:00:00.1Z created a mouse-1 9900",
                "2026-11-11T00:00:00.9Z deleted a mouse-1 9900",
            ],
            &[
                "2026-11-01T00:00:00Z created a mouse-1 9900",
                "2026-11-11T00:00:00.1Z changed b mouse-1 9900",
                "2026-11-11T00:00:00.9Z deleted b mouse-1 9900",
            ],
        ],
        "2026-11",
        "",
        &["2 mouse-1 a  2026-11-01T00:00:00Z 2026-11-11T00:00:00Z 3300"],
    );
}

#[test]
fn what_costs_nothing_is_left_out() {
    check(
        &[
            &["2026-11-01T00:00:00Z created a ducky 0"],
            // 130 seconds are below half a cent, 131 above.
            &["2026-11-30T23:57:50Z created b mouse-1 9900"],
            &["2026-11-30T23:57:49Z created c mouse-1 9900"],
            &["2026-12-05T00:00:00Z created d mouse-1 9900"],
        ],
        "2026-11",
        "",
        &["3 mouse-1 c  2026-11-30T23:57:49Z 2026-12-01T00:00:00Z 1"],
    );
}

#[test]
fn the_same_plan_at_another_price_is_another_line() {
    check(
        &[&[
            "2028-02-01T00:00:00Z created a mouse-1 9900",
            "2028-02-15T12:00:00Z changed a bat-1 17500",
            "2028-02-15T12:00:00Z changed a mouse-1 19800",
        ]],
        "2028-02",
        "",
        &[
            "1 mouse-1 a  2028-02-01T00:00:00Z 2028-02-15T12:00:00Z 4950",
            "1 mouse-1 a  2028-02-15T12:00:00Z 2028-03-01T00:00:00Z 9900",
        ],
    );
}
