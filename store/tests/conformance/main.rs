//! What every database behind the store must do: one list of checks, run on
//! SQLite and on a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod actions;
mod alarms;
mod answers;
mod archive;
mod billing;
mod bounds;
mod certificates;
mod chain;
mod copies;
mod documents;
mod fixture;
mod guards;
mod integration_turns;
mod integrations;
mod kept_out;
mod mail;
mod metrics;
mod names;
mod outbound;
mod outbox;
mod pauses;
mod resizes;
mod restored;
mod rows;
mod sessions;
mod several;
mod sizes;
mod team;
mod tickets;
mod turns;

macro_rules! checks {
    ($($room:ident::$check:ident,)*) => {
        mod on_sqlite {
            $(#[tokio::test]
            async fn $check() {
                crate::$room::$check(crate::fixture::Fixture::sqlite().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test]
            async fn $check() {
                crate::$room::$check(crate::fixture::Fixture::postgres().await).await;
            })*
        }
    };
}

checks! {
    actions::an_action_has_steps_until_its_intent_is_reached,
    actions::progress_is_one_step_and_what_matters_is_noted_however_much_was_said,
    actions::a_cancelled_action_ends_as_one,
    actions::a_replaced_action_ends_as_superseded,
    actions::actions_of_an_older_store_keep_what_replaced_them_and_end,
    actions::a_start_can_be_asked_for_and_taken_back,
    answers::an_answer_belongs_to_user_operation_and_key,
    answers::an_answer_lives_its_time_and_then_the_key_is_free,
    answers::of_the_same_call_at_two_stores_one_is_answered,
    answers::an_answer_is_sealed_and_opens_for_its_own_call_alone,
    archive::archived_lines_leave_the_store_and_the_chain_is_whole,
    archive::whatever_is_done_to_an_archive_is_found,
    archive::whatever_is_done_to_the_start_of_a_chain_is_found,
    archive::pruning_can_be_broken_off_anywhere_and_repeated,
    archive::a_line_that_came_late_stays_with_its_neighbours,
    archive::lines_beyond_a_share_are_counted_and_others_are_not,
    billing::a_history_outlives_its_instance,
    billing::time_never_runs_back_in_a_history_nor_into_a_closed_month,
    billing::names_and_tags_make_one_entry_a_month,
    billing::months_are_due_in_their_order,
    billing::an_invoice_is_numbered_without_a_gap_and_stays,
    billing::a_customer_is_told_by_the_account,
    billing::an_older_store_gets_its_histories,
    bounds::what_is_too_old_is_forgotten,
    bounds::actions_that_have_ended_are_kept_up_to_a_number,
    bounds::of_one_instance_so_many_messages_wait,
    bounds::numbers_of_acls_that_are_gone_can_be_forgotten,
    guards::a_guard_is_known_by_its_server_and_goes_with_it,
    guards::what_producers_had_is_kept_until_they_are_let_go,
    certificates::a_certificate_is_issued_until_it_is_revoked,
    certificates::revoked_ones_are_told_until_nobody_could_use_them,
    certificates::of_each_name_the_last_certificate_counts_until_it_ends,
    certificates::they_go_with_their_instance,
    chain::a_chain_is_sealed_in_pieces_and_whole,
    chain::whatever_is_done_to_a_sealed_line_is_found_and_named,
    chain::a_line_from_elsewhere_is_found_sealed_or_not,
    chain::a_chain_that_was_made_anew_does_not_end_as_it_did,
    chain::an_emptied_log_is_missed_and_goes_on_where_it_was,
    chain::the_end_of_an_older_chain_is_taken_over,
    chain::lines_of_an_older_store_are_sealed,
    chain::several_seal_and_write_at_once,
    chain::a_late_line_is_sealed_once_behind_the_others,
    chain::a_month_is_read_in_pages,
    integration_turns::a_turn_is_taken_by_one_and_again_after_the_lease,
    integration_turns::turns_are_counted_from_the_time_that_is_given,
    integration_turns::what_came_of_a_turn_is_kept_until_the_next,
    integration_turns::a_turn_of_other_settings_writes_nothing,
    integration_turns::an_account_with_many_turns_hides_no_other,
    integration_turns::an_instance_that_is_deleted_has_no_turns,
    integration_turns::a_system_of_a_later_release_holds_up_no_turn_of_another,
    integration_turns::a_clock_that_is_set_back_holds_no_turn_up_for_as_long,
    mail::an_address_outside_the_team_is_asked_once_by_account,
    mail::who_refuses_mail_gets_none_until_they_agree,
    mail::an_address_that_is_no_recipient_any_more_is_forgotten,
    mail::recipients_of_an_older_store_count_as_confirmed,
    mail::messages_are_counted_by_window_and_against_all_limits_or_none,
    kept_out::what_was_taken_away_since_a_backup_stays_away,
    kept_out::a_key_that_is_named_is_kept_unless_its_user_is_gone,
    kept_out::where_nothing_says_what_was_taken_away_no_key_is_good_but_those_named,
    kept_out::secrets_that_another_master_key_has_sealed_are_not_taken_over,
    metrics::a_window_is_written_by_one_and_read_by_time,
    metrics::the_first_windows_of_several_servers_are_found,
    metrics::what_is_too_old_is_forgotten_and_counted,
    names::a_name_is_held_by_one_until_let_go,
    names::who_died_holds_a_name_for_its_time_alone,
    names::what_nobody_knows_is_kept_in_mind_for_an_hour,
    names::a_held_name_goes_with_its_instance,
    names::numbers_of_rights_are_retired_by_how_they_begin,
    names::of_retired_numbers_the_highest_is_kept,
    outbox::a_message_is_taken_by_one_and_again_after_the_lease,
    outbox::a_clock_that_is_set_back_holds_no_message_up_for_as_long,
    outbox::what_somebody_held_who_starts_anew_is_due_at_once,
    outbox::a_message_that_fails_is_tried_again_and_given_up_after_its_time,
    outbox::of_two_stores_one_takes_a_message,
    outbox::a_message_is_sealed_and_can_be_taken_back,
    outbox::a_message_is_told_of,
    outbox::messages_of_a_lane_go_out_in_order,
    outbox::what_waits_behind_a_message_is_known_to_its_holder,
    outbox::a_lane_can_be_held,
    outbox::lanes_that_are_held_can_be_freed,
    outbox::a_lane_of_an_instance_that_is_gone_is_kept_for_what_waits_in_it,
    outbox::what_was_never_tried_goes_first,
    outbox::what_is_past_its_time_is_given_up_tried_or_not,
    outbox::what_waits_can_be_hastened,
    outbox::everybodys_first_message_comes_before_anybodys_second,
    alarms::recipients_are_kept_under_their_own_ids,
    alarms::alarms_are_kept_under_their_own_ids,
    alarms::a_recipient_who_is_gone_is_in_no_list,
    alarms::alarms_go_with_their_instance,
    integrations::both_kinds_are_counted_together_and_no_id_is_given_again,
    integrations::settings_belong_to_their_row,
    integrations::one_of_a_system_of_a_later_release_hides_no_other,
    integrations::an_instance_has_so_many_of_them,
    integrations::of_creates_at_once_none_goes_beyond_the_bound_or_gets_an_id_twice,
    integrations::agents_hear_of_a_change_of_where_logs_go,
    integrations::the_newest_failure_of_any_server_is_the_error,
    integrations::failures_that_stay_as_they_were_are_not_written_again,
    integrations::integrations_go_with_their_instance,
    outbound::agents_that_send_logs_hear_of_other_rules,
    pauses::a_pause_is_of_one_or_of_all,
    pauses::a_pause_and_a_resume_wake,
    resizes::a_resize_is_read_as_written_until_it_ends,
    resizes::a_resize_is_undone_once_and_not_while_servers_go,
    resizes::a_node_id_is_given_once,
    sizes::a_disk_grows_until_the_cloud_has_made_it_so,
    sizes::what_a_server_is_let_have_is_kept,
    rows::what_is_written_is_read_back,
    rows::an_instance_from_before_there_were_roots_has_its_server_authority_in_its_place,
    rows::keys_are_found_by_hash_and_secrets_are_not_in_the_database,
    rows::a_listener_is_given_once,
    rows::what_a_host_was_promised_is_counted_by_plan,
    rows::a_username_is_given_once,
    rows::what_an_account_has_is_counted,
    rows::a_host_is_seen,
    rows::a_deleted_instance_is_gone_for_customers_then_for_good,
    rows::a_network_goes_with_its_maker_alone,
    rows::an_answer_is_kept_for_the_same_call,
    rows::the_first_key_keeps_the_token,
    rows::one_key_is_an_agents_until_it_is_replaced_or_revoked,
    rows::another_master_key_is_refused,
    rows::a_newer_store_is_refused,
    rows::whether_a_store_is_behind_is_seen_without_a_change,
    tickets::an_instance_has_one_open_ticket,
    tickets::a_claim_may_be_repeated_and_outlives_its_ticket_for_a_while,
    tickets::a_ticket_expires_and_is_good_again_when_renewed,
    tickets::a_clock_that_is_set_back_keeps_nobody_waiting_for_as_long,
    tickets::a_ticket_ends_with_its_lease_and_with_the_wish_to_stop,
    team::a_team_is_listed_by_email_and_found_in_any_case,
    team::a_removed_user_takes_their_keys_along,
    team::a_key_that_another_store_takes_back_is_gone_at_once,
    team::the_last_use_of_a_key_never_goes_back,
    team::a_key_that_has_expired_is_known_for_a_while,
    sessions::a_session_is_found_by_its_token_and_removed_once,
    sessions::sessions_that_ended_by_themselves_are_found,
    sessions::a_user_has_one_text_of_each_purpose_and_it_is_good_once,
    sessions::codes_of_a_second_factor_are_good_once,
    sessions::a_removed_user_leaves_no_way_in,
    kept_out::nobody_is_signed_in_after_a_restore,
    team::an_invitation_is_found_by_its_token_until_it_expires,
    turns::a_transaction_that_is_dropped_never_was,
    turns::a_transaction_with_a_failed_statement_is_not_carried_out,
    turns::a_lease_has_one_holder_and_an_old_one_writes_nothing,
    turns::of_two_stores_one_gets_the_lease,
    turns::a_number_of_a_sequence_is_given_once,
    turns::what_is_read_before_a_write_stays_true_until_it,
    turns::a_snapshot_is_of_one_moment_and_holds_nobody_up,
    turns::a_wake_up_while_looking_is_not_lost,
    turns::a_host_works_on_its_own_instances,
}
