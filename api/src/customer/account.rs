//! `/api/account`.

use crate::about::{About, Counts, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use app::Right;
use app::accounts::{self, AccountChanges, AccountDetails};
use axum::Json;
use wire::account::{Account, UpdateAccount};
use wire::customer::Message;

/// `GET /api/account`.
pub async fn read(CustomerKey(caller, app): CustomerKey) -> Answer<Account> {
    Ok(Json(document(accounts::read(&caller, &app).await?)))
}

fn document(AccountDetails { account, customer }: AccountDetails) -> Account {
    Account {
        id: account.id.to_string(),
        name: account.name,
        company: customer.company,
        address: customer.address,
        country: customer.country,
        email: account.email,
    }
}

pub fn about_read() -> About {
    let example = Account {
        id: "7f0c6f4c-3a5a-4f0e-8c53-1d0d2f7c1b9a".into(),
        name: "Acme".into(),
        company: "Acme GmbH".into(),
        address: "Hauptstr. 1\n10115 Berlin".into(),
        country: "Germany".into(),
        email: "team@example.com".into(),
    };
    About::new("Read your account: its name, whom invoices are for, and the team's e-mail")
        .needs(Right::ManageAccount)
        .json("The account", &example)
}

const SAVED: &str = "Changes saved";

/// `PUT /api/account`.
pub async fn update(CustomerKey(caller, app): CustomerKey, body: Body) -> Answer<Message> {
    accounts::update(&caller, &app, body.ask(changes)).await?;
    Ok(Json(Message { message: SAVED.into() }))
}

fn changes(fields: &mut Fields) -> AccountChanges {
    AccountChanges {
        name: fields.text("name"),
        company: fields.contents("company"),
        address: fields.contents("address"),
        country: fields.contents("country"),
        email: fields.text("email"),
    }
}

pub fn about_update() -> About {
    let asked = UpdateAccount {
        company: Some("Acme GmbH".into()),
        address: Some("Hauptstr. 1".into()),
        country: Some("Germany".into()),
        ..UpdateAccount::default()
    };
    About::new("Change your account")
        .needs(Right::ManageAccount)
        .body(&UPDATE_FIELDS, &asked)
        .at_least_one(&[
            ("name", Counts::Given),
            ("company", Counts::EvenEmpty),
            ("address", Counts::EvenEmpty),
            ("country", Counts::EvenEmpty),
            ("email", Counts::Given),
        ])
        .json(
            "Invoices that are issued from now on say so; those that were stay",
            &Message { message: SAVED.into() },
        )
}

const UPDATE_FIELDS: [Input; 5] = [
    Input::plain("name", "1 to 64 characters").at_most(64),
    Input::plain("company", "Who pays; an empty text takes it away").at_most(128),
    Input::text("address", "As invoices print it, in lines; an empty text takes it away")
        .at_most(512),
    Input::plain("country", "An empty text takes it away").at_most(64),
    Input::email("email", "The team's: of a member, or one whose owner has agreed to get alarms"),
];
