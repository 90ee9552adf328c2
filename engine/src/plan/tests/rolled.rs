//! Brokers that are restarted or stopped one at a time.

use super::{Cluster, check};
use wire::agent::Phase;

fn three() -> Cluster {
    Cluster::running(3)
}

/// A restart of all servers, after a look at a healthy cluster.
fn roll() -> Cluster {
    three().restart(&[1, 2, 3]).looked_at()
}

#[test]
fn a_roll_goes_in_order_and_ends() {
    check(three().restart(&[1, 2, 3]), "look");
    // The active controller goes last.
    check(roll(), "open ticket of 2");
    check(roll().active_controller(Some(2)), "open ticket of 1");
    check(roll().ticket(Some(2)), "2: publish");
    check(roll().let_stop(2), "wait: leaving 2");
    // Another one can have its JVM warmed up meanwhile.
    let stopping = || roll().let_stop(2).reports(2, Phase::Stopping);
    check(stopping(), "1: publish");
    check(stopping().informed(&[1]), "close ticket");
    let gone = || roll().informed(&[2]).reports(2, Phase::Stopping).informed(&[1]);
    check(gone(), "wait: to restart 1, broker stopping 2, to restart 3");
    check(gone().reports(2, Phase::Starting), "wait: to restart 1, starting 2, to restart 3");
    // Back: the next one.
    let back = || roll().let_stop(2).reports(2, Phase::Running);
    check(back(), "close ticket");
    let second = || roll().reports(2, Phase::Running).informed(&[2]);
    check(second(), "open ticket of 3");
    check(second().lagging(2), "wait: catching up (replica lagging)");
    check(second().ticket(Some(3)), "3: publish");
    check(second().let_stop(3), "wait: leaving 3");
    check(second().let_stop(3).reports(3, Phase::Running), "close ticket");
    let third = || second().reports(3, Phase::Running).informed(&[3]);
    check(third(), "open ticket of 1");
    let done = || third().reports(1, Phase::Running).informed(&[1]);
    check(done(), "reach");
    check(done().reached(), "wait: running");
}

/// Server 1 has been restarted, and others lead what it led: the first replica of the one
/// partition is there.
#[test]
fn leaders_go_back_before_the_next_turn() {
    let back = || roll().active_controller(Some(2)).reports(1, Phase::Running).informed(&[1]);
    check(back(), "open ticket of 3");
    let away = || back().led_by(3, &[1, 2, 3]);
    check(away(), "return leaders of 1");
    check(away().lagging(1), "wait: catching up (replica lagging)");
    // Not every broker has heard of the last few yet.
    check(back().led_by(3, &[2]), "wait: leaders returning 1");
    // What is refused, or can't be asked for, holds nothing.
    check(away().leaders_refused(1), "open ticket of 3");
    let no_replica = || back().partition(&[2, 3], &[2, 3]).led_by(3, &[1, 2, 3]);
    check(no_replica().leaders_refused(1), "open ticket of 3");
    // Server 1 is yet to be restarted: its leaders would only move twice.
    check(roll().led_by(3, &[1, 2, 3]), "open ticket of 2");
    // At the end.
    let done = || three().restart(&[1]).reports(1, Phase::Running).informed(&[1]).looked_at();
    check(done(), "reach");
    check(done().led_by(3, &[1, 2, 3]), "return leaders of 1");
    check(done().led_by(3, &[1, 2, 3]).leaders_refused(1), "reach");
    // Only server 1 has a part in it, so what server 2 knows is not waited for.
    check(done().led_by(3, &[2]), "reach");
    check(done().led_by(3, &[1]), "wait: leaders returning 1");
    check(done().led_by(3, &[1, 2, 3]).reached(), "wait: running");
    // The first replica is on a server that shall not run, or does not answer us.
    let without = || stopped_before(1).restart(&[3]).looked_at().led_by(3, &[2, 3]);
    check(without().reports(3, Phase::Running).informed(&[3]), "reach");
    check(done().led_by(3, &[1, 2, 3]).unresponsive_to_us(1), "reach");
}

/// One server was stopped before, as asked.
fn stopped_before(number: u32) -> Cluster {
    let told = three().stop(&[number]).let_stop(number).reports(number, Phase::Stopped);
    told.with(|world| world.ticket = None).reached()
}

#[test]
fn a_roll_ends_without_servers_that_have_no_part_in_it() {
    let done = || three().restart(&[3]).reports(3, Phase::Running).informed(&[3]).looked_at();
    check(done(), "reach");
    check(done().lagging(3), "wait: catching up (replica lagging)");
    // Server 1 needs an action of its own.
    check(done().lagging(1), "reach");
    check(done().unresponsive(1), "reach");
    check(done().unresponsive(3), "wait: catching up (unresponsive)");
    // A broker that answers its agent, and not us, can't be restarted beside an open action.
    check(done().unresponsive_to_us(3), "reach");
    let two = || done().restart(&[1]).reports(1, Phase::Running).informed(&[1]);
    check(two().lagging(1), "wait: catching up (replica lagging)");
    check(two().cancelled_first().lagging(1), "wait: catching up (replica lagging)");
    check(two().cancelled().lagging(1), "reach");
}

#[test]
fn one_server_of_three() {
    let one = || three().restart(&[3]);
    check(one(), "look");
    check(one().looked_at(), "open ticket of 3");
    check(one().unseen(), "wait: unseen");
    check(three().restart(&[1]).looked_at(), "open ticket of 1");
    let back = || one().looked_at().reports(3, Phase::Running).informed(&[3]);
    check(back(), "reach");
    check(back().lagging(3), "wait: catching up (replica lagging)");
}

#[test]
fn what_was_cancelled_ends_with_the_server_that_had_begun() {
    let cancelled = || three().restart(&[2]).cancelled();
    check(cancelled().looked_at().let_stop(2), "wait: leaving 2");
    // A broker that has not come back is brought back, action or not.
    check(cancelled().informed(&[2]).reports(2, Phase::Starting), "reach");
    check(cancelled().let_stop(2).reports(2, Phase::Starting), "close ticket, reach");
    let back = || cancelled().reports(2, Phase::Running).informed(&[2]);
    check(back(), "look");
    check(back().unseen(), "reach");
    check(back().looked_at(), "reach");
    check(back().looked_at().lagging(3), "reach");
    check(back().looked_at().led_by(3, &[1, 2, 3]), "return leaders of 1");
    check(back().looked_at().led_by(3, &[1, 2, 3]).leaders_refused(1), "reach");
    check(back().looked_at().led_by(3, &[1, 2]), "reach");
}

#[test]
fn no_server_is_touched_while_another_is_missing() {
    let missing = |phase| roll().reports(3, phase).informed(&[1, 3]);
    check(missing(Phase::Starting), "wait: to restart 1, to restart 2, starting 3");
    check(missing(Phase::Failed), "wait: failing 3, to restart 1, to restart 2");
    check(missing(Phase::Preparing), "wait: to restart 1, to restart 2, preparing 3");
    // Its agent was not heard of since the server was started.
    check(roll().unreported(3), "wait: to restart 1, to restart 2, not reported yet 3");
    check(roll().disk_lost(3).informed(&[3]), "wait: held 3, to restart 1, to restart 2");
    // A ticket that was open is taken back.
    check(missing(Phase::Starting).let_stop(2), "close ticket");
}

#[test]
fn no_server_is_touched_before_replicas_have_caught_up() {
    check(three().restart(&[2]).looked_at().lagging(3), "wait: catching up (replica lagging)");
    check(roll().lagging(3), "wait: catching up (replica lagging)");
    check(roll().no_reply(3), "wait: catching up (unresponsive)");
    check(
        roll().active_controller(None),
        "wait: catching up (controller lagging, controller lagging, controller lagging)",
    );
}

#[test]
fn a_server_is_kept_while_the_others_need_it() {
    // A partition that demands every one of its replicas can't be kept writable.
    check(roll().partition(&[2, 3], &[2, 3]).min_in_sync(3), "open ticket of 2");
    let two_of_three = || three().restart(&[2]).looked_at().partition(&[1, 2, 3], &[2, 3]);
    check(two_of_three(), "wait: catching up (replica lagging)");
    // Told already, and then another lags: the ticket is closed until that is over.
    let told = || three().restart(&[2]).looked_at().let_stop(2);
    check(told().lagging(3), "close ticket");
    let waits = || three().restart(&[2]).looked_at().let_stop(2).lagging(3);
    check(
        waits().with(|world| world.ticket = None),
        "wait: blocked 2 (too few in sync, replica lagging)",
    );
    check(three().restart(&[2]).let_stop(2).unseen(), "wait: unseen");
    // While another server is stopped, the rest needs every server.
    let short = || stopped_before(3).restart(&[2]).looked_at().lagging(3);
    check(short(), "wait: blocked 2 (quorum lost, too few in sync)");
}

#[test]
fn a_ticket_is_kept_good_for_as_long_as_it_is_needed() {
    let told = || three().restart(&[2]).looked_at().let_stop(2);
    check(told(), "wait: leaving 2");
    check(told().ticket_is_old(), "open ticket of 2");
    check(told().ticket_expires(), "open ticket of 2");
    check(three().ticket(Some(2)), "close ticket");
    check(three().ticket(None), "close ticket");
    // The restart was cancelled before its agent was told.
    check(three().asked().ticket(Some(2)).looked_at(), "close ticket");
}

#[test]
fn a_single_server_and_a_pair_can_be_restarted() {
    let alone = || Cluster::running(1).restart(&[1]).looked_at();
    check(alone(), "open ticket of 1");
    check(alone().let_stop(1), "wait: leaving 1");
    check(alone().let_stop(1).reports(1, Phase::Running), "close ticket");
    let pair = || Cluster::running(2).restart(&[1, 2]).looked_at();
    check(pair(), "open ticket of 2");
    check(pair().lagging(1), "wait: catching up (replica lagging)");
}

#[test]
fn an_unresponsive_broker_goes_first_and_alone() {
    let hangs = || three().restart(&[3]).unresponsive(3);
    check(hangs(), "look");
    check(hangs().looked_at(), "open ticket of 3");
    // No broker says how the cluster is: this one serves no client, and can be restarted.
    check(hangs().unseen(), "open ticket of 3");
    check(hangs().looked_at().ticket(Some(3)), "3: publish");
    check(hangs().looked_at().let_stop(3), "wait: leaving 3");
    // It keeps its ticket while the next look is under way.
    check(hangs().let_stop(3), "wait: leaving 3");
    check(hangs().let_stop(3).ticket_is_old(), "open ticket of 3");
    // Others wait for it.
    check(roll().unresponsive(3), "open ticket of 3");
    check(three().restart(&[2]).unresponsive(3).looked_at(), "wait: catching up (unresponsive)");
    // Only we get no answer: brokers must say that they can do without it.
    check(three().restart(&[3]).unresponsive_to_us(3).looked_at(), "open ticket of 3");
    check(three().restart(&[3]).unresponsive_to_us(3).unseen(), "wait: unseen");
    // Only its agent gets no answer.
    check(three().restart(&[3]).unresponsive_to_agent(3), "look");
    check(three().restart(&[3]).unresponsive_to_agent(3).looked_at(), "open ticket of 3");
    // Two at once: the first of them.
    let two = || three().restart(&[2, 3]).unresponsive(2).unresponsive(3);
    check(two().looked_at(), "open ticket of 2");
    check(two().looked_at().let_stop(3), "wait: leaving 3");
}
