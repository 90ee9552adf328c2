//! What is told first of several things that are wrong.

use crate::{Error, Result};

/// What a request is about and what it asks for, as both were found. That the thing is
/// not there comes first, then what is wrong with the request, then why the cluster could
/// not be asked: whoever has to ask again anyway should know what else to mend.
pub(crate) fn in_order<T, U>(found: Result<T>, asked: Result<U>) -> Result<(T, U)> {
    if let Err(gone @ (Error::NotFound | Error::InvalidId)) = found {
        return Err(gone);
    }
    let asked = asked?;
    Ok((found?, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_s_order() {
        let check = |found: Result<i32>, asked: Result<i32>, expected: &str| {
            let told = match in_order(found, asked) {
                Ok((found, asked)) => format!("{found} {asked}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(told, expected);
        };
        let wrong = || Err(Error::Unreadable("no JSON".into()));
        let state = || Err(Error::Refused("not ready".into()));
        check(Ok(1), Ok(2), "1 2");
        check(Ok(1), wrong(), "no JSON");
        check(Err(Error::NotFound), wrong(), "Not Found");
        check(Err(Error::InvalidId), wrong(), "Invalid ID");
        check(Err(Error::NotFound), Ok(2), "Not Found");
        check(state(), wrong(), "no JSON");
        check(state(), Ok(2), "not ready");
    }
}
