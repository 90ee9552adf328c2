//! The instances a caller sees.

use crate::{App, Asked, Caller, Problems, Result, Right};
use model::Instance;
use store::instances;

const DEFAULT_SIZE: usize = 100;
const LARGEST: i64 = 1000;

/// Which part of the list; both absent: everything.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// From 1.
    pub page: Option<i64>,
    /// 1 to 1000; 100 if only the page is given.
    pub page_size: Option<i64>,
    /// Those being torn down, which every other call no longer knows.
    pub deleting: bool,
}

/// A part of the list, and how long the whole is.
#[derive(Clone, Debug)]
pub struct Listed {
    pub instances: Vec<Instance>,
    pub total: usize,
}

/// By id.
pub async fn list(caller: &Caller, app: &App, page: Asked<Page>) -> Result<Listed> {
    caller.may(Right::SeeInstances)?;
    let (page, problems) = page.open()?;
    let (skip, take) = bounds(&page, problems)?;
    let mut reader = app.store().reader();
    let mut all = if page.deleting {
        instances::list_deleting(&mut reader, caller.account_id).await?
    } else {
        instances::list(&mut reader, caller.account_id).await?
    };
    all.retain(|instance| caller.sees_tags_of(instance));
    let total = all.len();
    Ok(Listed { instances: all.into_iter().skip(skip).take(take).collect(), total })
}

fn bounds(page: &Page, mut problems: Problems) -> Result<(usize, usize)> {
    let number = page.page.filter(|page| *page >= 1);
    if page.page.is_some() && number.is_none() {
        problems.add("page", "must be 1 or more");
    }
    let size = page.page_size.filter(|size| (1..=LARGEST).contains(size));
    if page.page_size.is_some() && size.is_none() {
        problems.add("page_size", format!("must be between 1 and {LARGEST}"));
    }
    problems.finish()?;
    if number.is_none() && size.is_none() {
        return Ok((0, usize::MAX));
    }
    let size = size.and_then(|size| usize::try_from(size).ok()).unwrap_or(DEFAULT_SIZE);
    // A page past what a number can hold is past the end of the list.
    let before = usize::try_from(number.unwrap_or(1) - 1).unwrap_or(usize::MAX);
    Ok((before.saturating_mul(size), size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages() {
        let check = |page, page_size, expected: Option<(usize, usize)>| {
            let page = Page { page, page_size, deleting: false };
            assert_eq!(bounds(&page, Problems::default()).ok(), expected, "{page:?}");
        };
        check(None, None, Some((0, usize::MAX)));
        check(Some(1), None, Some((0, 100)));
        check(Some(3), Some(10), Some((20, 10)));
        check(None, Some(7), Some((0, 7)));
        check(Some(i64::MAX), Some(1000), Some((usize::MAX, 1000)));
        check(Some(0), None, None);
        check(Some(1), Some(1001), None);
        check(None, Some(0), None);
    }
}
