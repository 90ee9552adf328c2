//! `/api/instances/<ID>/security/firewall`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Fields, RULES, RulesBody};
use app::Right;
use app::firewall::{self, AskedRule, FirewallView};
use axum::Json;
use axum::http::StatusCode;
use model::{FirewallRule, MOST_FIREWALL_RULES};
use web::error::Failure;
use wire::firewall::{FirewallConfigured, FirewallRule as Rule};

const SHARED: &str = "Not available on shared plans";

fn document(view: FirewallView) -> Vec<Rule> {
    let enforced = (!view.enforced).then_some(false);
    let rule = |rule: FirewallRule| Rule {
        ip: rule.ip.to_string(),
        services: rule.services.iter().map(ToString::to_string).collect(),
        ports: rule.ports,
        description: rule.description.to_string(),
        enforced,
    };
    view.rules.into_iter().map(rule).collect()
}

fn example() -> Rule {
    Rule {
        ip: "203.0.113.0/24".into(),
        services: vec!["SASL_SSL".into()],
        ports: Vec::new(),
        description: "Office".into(),
        enforced: None,
    }
}

/// `GET /api/instances/<ID>/security/firewall`.
pub async fn read(Seeing(access, app): Seeing) -> Answer<Vec<Rule>> {
    Ok(Json(document(firewall::read(&access, &app).await?)))
}

pub fn about_read() -> About {
    About::new("Read who may reach the servers from outside the VPC")
        .needs(Right::SeeInstances)
        .refuses(SHARED)
        .list("The rules; one that says so where none was set", as_read())
}

/// With the field that says that nothing enforces it.
fn as_read() -> Rule {
    Rule { enforced: Some(false), ..example() }
}

fn rules(fields: &mut Fields) -> Option<Vec<AskedRule>> {
    fields.objects(RULES, rule)
}

fn rule(fields: &mut Fields) -> AskedRule {
    AskedRule {
        ip: fields.text("ip"),
        services: fields.list("services").unwrap_or_default(),
        ports: fields.integers("ports").unwrap_or_default(),
        description: fields.contents("description"),
    }
}

/// `POST /api/instances/<ID>/security/firewall`.
pub async fn create(
    Changing(access, app): Changing,
    body: RulesBody,
) -> Result<(StatusCode, Json<Vec<Rule>>), Failure> {
    let replaced = firewall::replace(&access, &app, body.ask(rules)).await?;
    Ok((StatusCode::CREATED, Json(document(replaced))))
}

pub fn about_create() -> About {
    About::new("Replace all rules; none are the default")
        .needs(Right::ChangeInstances)
        .list_body(LIST, &[example()])
        .created_json("The rules; `configured` tells when they are in effect", &vec![as_read()])
}

/// `PUT /api/instances/<ID>/security/firewall`.
pub async fn update(
    Changing(access, app): Changing,
    body: RulesBody,
) -> Result<StatusCode, Failure> {
    firewall::replace(&access, &app, body.ask(rules)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_update() -> About {
    About::new("Replace all rules; none are the default")
        .needs(Right::ChangeInstances)
        .list_body(LIST, &[example()])
}

const LIST: Input =
    Input::objects(RULES, "All rules; none are the default", &FIELDS).items(0, MOST_FIREWALL_RULES);

/// An IPv4 range; empty is not given.
const RANGE: &str = r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])$";

const FIELDS: [Input; 4] = [
    Input::text("ip", "An IPv4 range in CIDR notation, without host bits")
        .like(RANGE)
        .such_as("203.0.113.0/24")
        .required(),
    Input::list(
        "services",
        "PLAINTEXT (within the VPC alone), SSL, SASL_SSL; those of other products are left out",
    ),
    Input::integers("ports", "9092, 9093, 9094: the same services by their ports"),
    Input::plain("description", "What the rule is for").at_most(128),
];

/// `GET /api/instances/<ID>/security/firewall/configured`.
pub async fn configured(Seeing(access, app): Seeing) -> Answer<FirewallConfigured> {
    firewall::check_configured(&access, &app).await?;
    Ok(Json(FirewallConfigured { configured: true }))
}

pub fn about_configured() -> About {
    About::new("Whether the rules are in effect; 400 with error_code 40001 until they are")
        .needs(Right::SeeInstances)
        .refuses(
            "The firewall rules are not in effect yet at u7k2m9qa-01; try again in a few seconds",
        )
        .json("They are in effect on every server", &FirewallConfigured { configured: true })
}
