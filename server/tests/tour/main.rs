//! The grand tour: one real cluster, from create to delete, with everything killed on the
//! way, as a person would do it by hand.
//!
//! Its parts are tests of one program that share one cluster, one after another in the order
//! of the list below. Each begins by waiting until the cluster is at rest. A part that fails
//! takes its cluster along, and the next one begins on a new cluster: one failure hides
//! nothing. One part alone, by its name:
//!
//! ```sh
//! cargo test -p server --test tour -- rolled
//! ```
//!
//! Long parts run where `CASTELLAN_TEST_ALL` is set or a name is given.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agree;
mod alarmed;
mod at_rest;
mod basics;
mod certified;
mod checked;
mod day;
mod every_alarm;
mod fault_table;
mod groups;
mod guarded;
mod held;
mod held_back;
mod hundred;
mod isolated;
mod lagging;
mod logged;
mod meanwhile;
mod mishap;
mod oldest;
mod re_enrolled;
mod resources;
mod roll_faults;
mod rolled;
mod shared;
mod survives;
mod turns;
mod unlucky;

use libtest_mimic::Arguments;
use shared::{Parts, Tour};

const SERVERS: usize = 3;

/// Whether everything is tried, however long it takes.
fn thorough() -> bool {
    std::env::var_os("CASTELLAN_TEST_ALL").is_some()
}

fn main() {
    let mut arguments = Arguments::from_args();
    // They share a cluster.
    arguments.test_threads = Some(1);
    let mut parts = Parts::new();
    list(&mut parts, thorough() || arguments.filter.is_some());
    parts.run(&arguments).exit();
}

/// Every part, in the order in which they run.
fn list(parts: &mut Parts, with_long_ones: bool) {
    parts.add("details", async |tour: &mut Tour| {
        basics::details_agree(tour).await;
        basics::the_instance_key_opens_its_own_instance_alone(tour).await;
    });
    parts.add("strangers", basics::strangers_are_refused);
    parts.add("isolated", async |tour: &mut Tour| {
        isolated::finds_no_way_out(&tour.castellan).await;
        isolated::eats_its_own_memory_alone(&tour.castellan, tour.id).await;
    });
    parts.add("resources", async |tour: &mut Tour| {
        resources::are_what_kafka_has(&tour.castellan, &tour.instance).await;
    });
    parts.add("groups", async |tour: &mut Tour| {
        groups::are_what_kafka_has(&tour.castellan, &tour.instance).await;
    });
    parts.add("certified", async |tour: &mut Tour| {
        tour.certified =
            Some(certified::come_in_until_they_are_revoked(&tour.castellan, &tour.instance).await);
    });
    parts.add("alarmed", async |tour: &mut Tour| {
        let told = alarmed::of_a_broker_that_hangs(&mut tour.castellan, &tour.instance).await;
        told.ends(&tour.castellan).await;
    });
    parts.add("logged", async |tour: &mut Tour| {
        logged::arrives_as_it_is_in_the_files(&tour.castellan, &tour.instance).await;
    });
    parts.add("checked", async |tour: &mut Tour| {
        checked::finds_nothing_and_then_what_was_planted(&tour.instance).await;
    });
    if with_long_ones {
        parts.add("fault_table", async |tour: &mut Tour| {
            fault_table::every_fault_has_its_alarm(&tour.castellan, &tour.instance).await;
        });
    }
    parts.add("rolled", rolled::goes_in_order_and_certificates_stay_as_they_were);
    parts.add("re_enrolled", async |tour: &mut Tour| {
        re_enrolled::shuts_a_thief_out_and_restarts_nothing(&tour.castellan, &tour.instance).await;
    });
    parts.add("lagging", async |tour: &mut Tour| {
        lagging::keeps_the_next_from_its_restart(&tour.castellan, &tour.instance).await;
    });
    for (name, cases) in roll_faults::parts(with_long_ones) {
        parts.add(&format!("unlucky::{name}"), async move |tour: &mut Tour| {
            unlucky::survives_bad_luck(&mut tour.castellan, &tour.instance, cases).await;
        });
    }
    if with_long_ones {
        parts.add("hundred::rolls_1_to_50", hundred::rolls_1_to_50);
        parts.add("hundred::rolls_51_to_100", hundred::rolls_51_to_100);
    }
    parts.add("killed", survives::kills);
    parts.add("rebooted", survives::a_reboot);
    parts.add("stopped", survives::a_stop_and_a_start);
    parts.add("password", async |tour: &mut Tour| {
        resources::another_password(&tour.castellan, &tour.instance).await;
    });
    parts.add_last("deleted", basics::nothing_is_left_once_it_is_deleted);
    if with_long_ones {
        parts.add_apart("oldest", oldest::has_it_too);
    }
}
