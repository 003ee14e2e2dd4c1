//! Passwords as programs take them by options: `sshpass -p …`, `mysql -p…`, `--password …`.

/// What stands for a secret.
pub(crate) const SHOWN: &str = "***";

const OPTIONS: [&str; 7] = [
    "--password",
    "--passwd",
    "--pass",
    "--passphrase",
    "--secret",
    "--token",
    "-pw",
];

/// The program whose options are read.
#[derive(Clone, Copy, PartialEq)]
enum OptionsOf {
    Other,
    Sshpass,
    /// A client of MariaDB or MySQL.
    Mysql,
}

/// The text with every such password replaced by `***`.
pub(crate) fn redact_options(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut program = OptionsOf::Other;
    let mut is_value = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        if rest[..start].contains('\n') {
            (program, is_value) = (OptionsOf::Other, false);
        }
        let length = rest[start..].find(char::is_whitespace);
        let end = length.map_or(rest.len(), |length| start + length);
        let word = Word::of(&rest[start..end]);
        out.push_str(&rest[..start]);
        let hidden = match is_value {
            true => Some(0),
            false => word.password(program),
        };
        match hidden.filter(|from| *from < word.text.len()) {
            Some(from) => {
                let kept = word.before.len() + from;
                out.push_str(&rest[start..start + kept]);
                out.push_str(SHOWN);
                out.push_str(word.after);
            }
            None => out.push_str(&rest[start..end]),
        }
        program = if is_value {
            program
        } else {
            word.program(program)
        };
        is_value = !is_value && word.announces(program);
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// A word of a command, without the quotation marks around it.
struct Word<'a> {
    before: &'a str,
    text: &'a str,
    after: &'a str,
}

impl<'a> Word<'a> {
    fn of(word: &'a str) -> Self {
        let inner = word.trim_start_matches(['"', '\'', '(', '[']);
        let text = inner.trim_end_matches(['"', '\'', ',', ';', ')', ']']);
        Self {
            before: &word[..word.len() - inner.len()],
            text,
            after: &inner[text.len()..],
        }
    }

    /// Whose options follow this word.
    fn program(&self, present: OptionsOf) -> OptionsOf {
        let name = self.text.rsplit('/').next().unwrap_or_default();
        match name {
            "sshpass" => OptionsOf::Sshpass,
            _ if self.text.starts_with('-') => present,
            _ if name.starts_with("mysql") || name.starts_with("mariadb") => OptionsOf::Mysql,
            // The command that sshpass runs.
            _ if present == OptionsOf::Sshpass => OptionsOf::Other,
            _ => present,
        }
    }

    /// Whether the next word is a password.
    fn announces(&self, program: OptionsOf) -> bool {
        OPTIONS.contains(&self.text) || (program == OptionsOf::Sshpass && self.text == "-p")
    }

    /// Where a password begins in this word.
    fn password(&self, program: OptionsOf) -> Option<usize> {
        let has_one = program != OptionsOf::Other && self.text.starts_with("-p");
        has_one.then_some(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::cases;

    #[test]
    fn passwords_of_options_do_not_show() {
        let lines = redact_options("mariadb-dump -pZq\nssh -p22 h");
        assert_eq!(lines, "mariadb-dump -p***\nssh -p22 h");
        for (text, shown) in cases(
            r#"
via = "sshpass -p Zq ssh -p 22 {host}" => via = "sshpass -p *** ssh -p 22 {host}"
/usr/bin/sshpass -pZq ssh h => /usr/bin/sshpass -p*** ssh h
via = 'x sshpass -v -p Zq' => via = 'x sshpass -v -p ***'
mysql -u u -pZq -P 3306 db => mysql -u u -p*** -P 3306 db
tool --password Zq --x => tool --password *** --x
plink -pw Zq h => plink -pw *** h
ssh -p 2222 h; docker run -p80:80 => ssh -p 2222 h; docker run -p80:80
mysql -p => mysql -p
"#,
        ) {
            assert_eq!(redact_options(text), shown);
            assert_eq!(redact_options(shown), shown);
        }
    }
}
