//! What holds for any window: packing loses nothing, thinning stays within what
//! was there, and bytes that are no window are refused.

#![allow(clippy::unwrap_used, reason = "it is a test")]

use model::{Series, TopicSeries};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use series::{Measure, Of, OpenWindow, Sample, Tier, Window, pack, unpack};
use std::sync::Arc;

fn measure() -> impl Strategy<Value = Measure> {
    let server = (0..Series::ALL.len()).prop_map(|at| Measure::Server(Series::ALL[at]));
    let topic = ("[a-z._-]{1,20}", 0..TopicSeries::ALL.len())
        .prop_map(|(name, at)| Measure::Topic(name.into(), TopicSeries::ALL[at]));
    prop_oneof![3 => server, 1 => topic]
}

/// Any bits: infinities and what is no number too.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![any::<u32>().prop_map(f32::from_bits), -1e9f32..1e9, Just(0.0)]
}

fn window(value: impl Strategy<Value = f32>) -> impl Strategy<Value = Window> {
    let points = btree_map(measure(), btree_map(0i64..60, value, 1..60), 0..12);
    (0i64..1_000_000, points).prop_map(|(number, columns)| {
        let mut window = Window::around(number * Tier::Sampled.span(), Tier::Sampled);
        for (measure, points) in columns {
            for (slot, value) in points {
                window.set(measure.clone(), Of::Average, window.start + slot * 10, value);
            }
        }
        window
    })
}

/// What is no number does not equal itself, its bits do.
fn bits(window: &Window) -> Vec<(String, i64, u32)> {
    let points = window.columns.keys().flat_map(|(measure, of)| {
        let named =
            move |(at, value): (i64, f32)| (format!("{measure} {of:?}"), at, value.to_bits());
        window.points(measure, *of).map(named)
    });
    points.collect()
}

/// Few of each, so that many are of the same time and measure.
fn sample() -> impl Strategy<Value = Sample> {
    let values = btree_map((0..4usize).prop_map(|at| Series::ALL[at]), any_of_few(), 0..4);
    let of_topic = btree_map((0..2usize).prop_map(|at| TopicSeries::ALL[at]), any_of_few(), 0..3);
    let topics = btree_map("[ab]".prop_map(Arc::from), of_topic, 0..3);
    (-1i64..62, values, topics).prop_map(|(slot, values, topics)| Sample {
        at: slot * 10,
        values,
        topics,
        ..<_>::default()
    })
}

fn any_of_few() -> impl Strategy<Value = f32> {
    prop_oneof![3 => Just(0.0), 3 => Just(1.5), 1 => value()]
}

proptest! {
    #[test]
    fn samples_in_rows_are_the_samples_in_columns(samples in vec(sample(), 0..40)) {
        let mut window = Window::around(0, Tier::Sampled);
        let mut open = OpenWindow::around(0);
        for sample in &samples {
            prop_assert_eq!(open.take(sample), window.take(sample));
            prop_assert_eq!(bits(&open.window()), bits(&window));
        }
    }

    #[test]
    fn what_is_packed_comes_out_again(window in window(value())) {
        let unpacked = unpack(&pack(&window)).unwrap();
        prop_assert_eq!((unpacked.start, unpacked.tier), (window.start, window.tier));
        prop_assert_eq!(bits(&unpacked), bits(&window));
    }

    #[test]
    fn a_thinned_point_lies_within_its_points(window in window(-1e9f32..1e9)) {
        for tier in Tier::THINNED {
            let thin = window.thinned(tier);
            prop_assert_eq!(unpack(&pack(&thin)).unwrap(), thin.clone());
            for (measure, of) in thin.columns.keys() {
                for (at, value) in thin.points(measure, *of) {
                    let within = |point: &i64| (at..at + tier.step()).contains(point);
                    let points = window.points(measure, Of::Average);
                    let points: Vec<f32> =
                        points.filter(|(at, _)| within(at)).map(|(_, value)| value).collect();
                    let least = points.iter().copied().fold(f32::INFINITY, f32::min);
                    let most = points.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                    prop_assert!((least..=most).contains(&value), "{value} of {points:?}");
                    prop_assert!(*of == Of::Average || value.to_bits() == most.to_bits());
                }
            }
        }
    }

    #[test]
    fn bytes_that_are_no_window_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(unpack(&bytes).is_err());
        let mut versioned = vec![1];
        versioned.extend(bytes);
        prop_assert!(unpack(&versioned).is_err());
    }

    #[test]
    fn a_window_cut_short_is_never_another(window in window(value()), cut in 1usize..50) {
        let mut packed = pack(&window);
        packed.truncate(packed.len().saturating_sub(cut));
        // The last byte may hold nothing but the mark of the end.
        if let Ok(unpacked) = unpack(&packed) {
            prop_assert_eq!(bits(&unpacked), bits(&window));
        }
    }
}

/// About what a busy server's ten minutes look like.
#[test]
fn a_row_of_ten_minutes_is_small() {
    let mut window = Window::around(0, Tier::Sampled);
    let mut state = 1u32;
    for slot in 0..60 {
        for (at, series) in Series::ALL.iter().enumerate() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // A third never changes, the rest by a tenth to and fro.
            let noise =
                if at % 3 == 0 { 0.0 } else { f64::from(state >> 8) / f64::from(1u32 << 24) };
            let value = series::narrow(1000.0 * (1.0 + noise / 10.0));
            window.set(Measure::Server(*series), Of::Average, slot * 10, value);
        }
    }
    let bytes = pack(&window).len();
    assert!(bytes < 6 * 1024, "{bytes} bytes");
}
