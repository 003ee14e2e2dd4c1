//! Users of the machine, as /etc/passwd lists them (passwd(5)).

/// A user of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PasswdEntry {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

/// The text of /etc/passwd; empty where it cannot be read.
pub(crate) fn read() -> String {
    std::fs::read_to_string("/etc/passwd").unwrap_or_default()
}

pub(crate) fn entries(passwd: &str) -> impl Iterator<Item = PasswdEntry> {
    passwd.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(PasswdEntry { name, uid, gid })
    })
}

/// The user's login, else the number.
pub fn user_name(uid: u32) -> String {
    name_in(&read(), uid)
}

fn name_in(passwd: &str, uid: u32) -> String {
    entries(passwd)
        .find(|entry| entry.uid == uid)
        .map_or_else(|| format!("user {uid}"), |entry| entry.name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_user_without_a_line_is_a_number() {
        let passwd = "root:x:0:0::/:/bin/sh\nbad\nanna:x:1000:1000::/home/anna:/bin/sh\n";
        assert_eq!(
            [0, 1000, 7].map(|uid| name_in(passwd, uid)),
            ["root", "anna", "user 7"]
        );
    }

    proptest! {
        #[test]
        fn any_text_is_read(passwd in ".*") {
            let _ = name_in(&passwd, 0);
        }
    }
}
