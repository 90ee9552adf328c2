//! Voters come and go one at a time.

use crate::checks::code;
use crate::subject::{ALL, NEWCOMER, NODES, SOON, Subject};
use kafka::client::{Error, NewVoter, Quorum, Remedy};
use uuid::Uuid;

pub async fn describe(subject: &dyn Subject) -> Result<Quorum, String> {
    let quorum = subject.admin().describe_quorum(&subject.cluster()).await;
    quorum.map_err(|error| error.to_string())
}

pub async fn until_voters(subject: &dyn Subject, expected: &[i32]) -> Quorum {
    subject
        .until("the voters are these", SOON, async || {
            let quorum = describe(subject).await?;
            let mut ids: Vec<i32> = quorum.voters.iter().map(|voter| voter.id).collect();
            ids.sort_unstable();
            let whole = ids == expected && quorum.leader.is_some();
            if whole { Ok(quorum) } else { Err(format!("{quorum:?}")) }
        })
        .await
}

pub async fn an_observer_votes_for_a_while(subject: &dyn Subject) {
    let directory = subject
        .until("the newcomer observes and has everything", SOON, async || {
            let quorum = describe(subject).await?;
            let newcomer = quorum.observers.iter().find(|it| it.id == NEWCOMER);
            let near = newcomer.filter(|it| quorum.lag_of(it).is_some_and(|lag| lag < 10));
            let directory = near.and_then(|it| it.directory);
            directory.ok_or_else(|| format!("{quorum:?}"))
        })
        .await;
    let cluster = subject.grown();
    let voters = subject.admin().voters();
    let voter =
        |directory| NewVoter { id: NEWCOMER, directory, controller: subject.controller(NEWCOMER) };
    let add = async |directory| voters.add_voter(&cluster, &voter(directory)).await;
    let refused = add(Uuid::from_u128(1)).await.unwrap_err();
    assert_eq!((code(&refused), refused.remedy()), ("RequestTimedOut".into(), Remedy::Retry));
    until_voters(subject, &NODES).await;

    assert_eq!(changed(subject, async || add(directory).await).await, Ok(true));
    assert_eq!(add(directory).await, Ok(false));
    let four = until_voters(subject, &ALL).await;
    assert!(four.votes(NEWCOMER, directory) && !four.votes(NEWCOMER, Uuid::from_u128(1)));
    assert!(four.observers.is_empty(), "{four:?}");
    let other = add(Uuid::from_u128(1)).await.unwrap_err();
    assert_eq!((code(&other), other.remedy()), ("DuplicateVoter".into(), Remedy::Refused));

    let remove = async || voters.remove_voter(&cluster, NEWCOMER, directory).await;
    assert_eq!(changed(subject, &remove).await, Ok(true));
    assert_eq!(remove().await, Ok(false));
    let three = until_voters(subject, &NODES).await;
    assert!(!three.votes(NEWCOMER, directory));
    subject
        .until("it observes again", SOON, async || {
            let quorum = describe(subject).await?;
            let observes = quorum.observers.iter().any(|it| it.id == NEWCOMER);
            if observes { Ok(()) } else { Err(format!("{quorum:?}")) }
        })
        .await;
}

/// Asks again for as long as that may help.
pub async fn changed(
    subject: &dyn Subject,
    ask: impl AsyncFn() -> Result<bool, Error>,
) -> Result<bool, Error> {
    subject
        .until("the voters change", SOON, async || match ask().await {
            Err(error) if error.remedy() == Remedy::Retry => Err(error.to_string()),
            answer => Ok(answer),
        })
        .await
}
