//! One cell of a CSV file that may be opened in a spreadsheet.

/// With these first, a spreadsheet takes a cell for a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text without control characters, and so that no program runs it.
pub fn safe(text: &str) -> String {
    let shown: String = text.chars().filter(|c| !c.is_control()).collect();
    if text.starts_with(FORMULA) || shown.starts_with(FORMULA) {
        format!("'{shown}")
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text() {
        let check = |text: &str, expected: &str| assert_eq!(safe(text), expected, "{text:?}");
        check("name=orders", "name=orders");
        check("", "");
        check("=1+1", "'=1+1");
        check("+1", "'+1");
        check("-1", "'-1");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\tx", "'x");
        check("\rx", "'x");
        check("\u{7}=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
        check("a\r\nb\0c\u{1b}[31m\u{9b}", "abc[31m");
        check("a,\"b\"", "a,\"b\"");
        check("'=1", "'=1");
        check(" =1", " =1");
    }
}
