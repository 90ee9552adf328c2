//! A line of values as text: every character of Braille is two dots wide and
//! four high. Pure; gaps stay gaps.

use super::number::short;

/// Room for the numbers at the left.
const LABEL: usize = 8;
/// The dots of one character, by column and by row from the top.
const DOTS: [[u32; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
const BLANK: u32 = 0x2800;

/// Lines of text, so many characters wide and high beside their numbers.
pub fn draw(values: &[Option<f32>], width: usize, height: usize) -> Vec<String> {
    let (low, high) = bounds(values);
    let columns = spread(values, width * 2);
    let mut cells = vec![vec![0u32; width]; height];
    let mut before: Option<usize> = None;
    for (x, value) in columns.iter().enumerate() {
        let y = value.map(|value| row(f64::from(value), (low, high), height * 4));
        if let Some(y) = y {
            // A line, not dots: what lies between two values is filled.
            let from = before.map_or(y, |before| before.min(y));
            let to = before.map_or(y, |before| before.max(y));
            for y in from..=to {
                cells[y / 4][x / 2] |= DOTS[x % 2][y % 4];
            }
        }
        before = y;
    }
    let middle = height / 2;
    let label = |line: usize| match line {
        0 => short(high),
        _ if line + 1 == height => short(low),
        _ if line == middle && height > 4 => short(f64::midpoint(low, high)),
        _ => String::new(),
    };
    let text = |cells: &Vec<u32>| -> String {
        cells.iter().filter_map(|dots| char::from_u32(BLANK + dots)).collect()
    };
    let lines = cells.iter().enumerate();
    lines.map(|(line, cells)| format!("{:>LABEL$} ┤{}", label(line), text(cells))).collect()
}

/// The line below: where it begins and ends.
pub fn axis(from: &str, to: &str, width: usize) -> String {
    let between = width.saturating_sub(from.chars().count() + to.chars().count());
    format!("{:LABEL$}  {from}{:between$}{to}", "", "")
}

/// From zero, unless there is less, to the highest.
fn bounds(values: &[Option<f32>]) -> (f64, f64) {
    let known = || values.iter().flatten().map(|value| f64::from(*value));
    let low = known().fold(0.0, f64::min);
    let high = known().fold(low, f64::max);
    if high > low { (low, high) } else { (low, low + 1.0) }
}

/// One value for each column: the highest of those that share it.
fn spread(values: &[Option<f32>], columns: usize) -> Vec<Option<f32>> {
    let at = |column: usize| column * values.len() / columns.max(1);
    let highest = |column: usize| {
        let (from, to) = (at(column), at(column + 1));
        let shared = values.get(from..to.max(from + 1)).unwrap_or_default();
        shared.iter().flatten().copied().reduce(f32::max)
    };
    (0..columns).map(highest).collect()
}

/// Counted from the top.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "it is a row of a screen"
)]
fn row(value: f64, (low, high): (f64, f64), rows: usize) -> usize {
    let last = (rows - 1) as f64;
    let height = ((value - low) / (high - low) * last).round().clamp(0.0, last);
    (last - height) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(numbers: &[i16]) -> Vec<Option<f32>> {
        numbers.iter().map(|number| Some(f32::from(*number))).collect()
    }

    fn check(values: &[Option<f32>], width: usize, height: usize, expected: &[&str]) {
        assert_eq!(draw(values, width, height), expected, "{values:?}");
    }

    #[test]
    fn a_line_goes_through_its_values() {
        check(&values(&[0, 1, 2, 3, 4, 5, 6, 7]), 4, 2, &["       7 ┤⠀⠀⣠⠞", "       0 ┤⣠⠞⠁⠀"]);
        check(&values(&[5; 8]), 4, 1, &["       5 ┤⠉⠉⠉⠉"]);
        check(&values(&[0; 8]), 4, 1, &["       1 ┤⣀⣀⣀⣀"]);
    }

    #[test]
    fn gaps_stay_gaps_and_peaks_stay_peaks() {
        check(&[Some(3.0), None, None, Some(3.0)], 2, 1, &["       3 ┤⠁⠈"]);
        check(&[None; 4], 2, 1, &["       1 ┤⠀⠀"]);
        check(&[], 2, 1, &["       1 ┤⠀⠀"]);
        let mut peak = values(&[0; 64]);
        peak[33] = Some(9.0);
        let drawn = draw(&peak, 4, 1).join("");
        assert!(drawn.contains('9'), "{drawn}");
        assert!(drawn.chars().any(|dots| (dots as u32) >= BLANK && (dots as u32) & 0x09 != 0));
    }

    #[test]
    fn below_zero_the_axis_goes_along() {
        let drawn = draw(&values(&[-10, 10]), 2, 6);
        assert!(drawn[0].starts_with("      10 ┤"), "{drawn:#?}");
        assert!(drawn[3].starts_with("       0 ┤"), "{drawn:#?}");
        assert!(drawn[5].starts_with("     -10 ┤"), "{drawn:#?}");
        assert_eq!(axis("12:00", "13:00", 20), "          12:00          13:00");
    }
}
