//! Names of what lies on a medium: instances of systems (`db-1@nvme`), and devices that are used again by the next
//! medium (`loop0@sata`). The only place that joins and splits them.

use std::fmt;

/// A name and the medium that it lies on. Names of plans have no `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedName<'a> {
    pub name: &'a str,
    pub medium: Option<&'a str>,
}

impl<'a> PlacedName<'a> {
    pub fn parse(text: &'a str) -> Self {
        match text.split_once('@') {
            Some((name, medium)) => Self {
                name,
                medium: Some(medium),
            },
            None => Self {
                name: text,
                medium: None,
            },
        }
    }
}

impl fmt::Display for PlacedName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        match self.medium {
            Some(medium) => write!(f, "@{medium}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_where_they_were_joined() {
        for text in ["db", "db-1@nvme", "loop0@a b"] {
            assert_eq!(PlacedName::parse(text).to_string(), text);
        }
        let placed = PlacedName::parse("db-1@nvme");
        assert_eq!((placed.name, placed.medium), ("db-1", Some("nvme")));
    }
}
