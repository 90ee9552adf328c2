//! Bodies of the Customer API about people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of `GET /api/team`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TeamMember {
    #[schemars(extend("format" = "uuid"))]
    pub id: String,
    pub email: String,
    pub tfa_auth_enabled: bool,
    /// Exactly one.
    pub roles: Vec<String>,
    /// What they call themselves; empty if they never said.
    pub name: String,
    /// Those that narrow what a member or a monitor sees.
    pub tags: Vec<String>,
}

/// `POST /api/team/invite`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Invite {
    pub email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Comma-separated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
}

/// `POST /api/team/remove`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RemoveMember {
    pub email: String,
}

/// The answer to `POST /api/team/remove`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RemovedMember {
    pub message: String,
    /// Those whose key and password the member could read. A copy of them works until they
    /// are rotated.
    #[serde(default)]
    pub instances_to_rotate: Vec<InstanceToRotate>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InstanceToRotate {
    pub id: i64,
    pub name: String,
}

/// `PUT /api/team/<user-id>`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UpdateMember {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Comma-separated; an empty text clears them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<String>,
}
