//! The tool that wrote a file, and its format.

/// Each format has its own in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tool {
    name: &'static str,
    title: &'static str,
    maker: &'static str,
}

impl Tool {
    pub(super) const fn new(name: &'static str, title: &'static str) -> Self {
        Self {
            name,
            title,
            maker: name,
        }
    }

    /// Figures of another name than that of the command line.
    pub(super) const fn made_by(self, maker: &'static str) -> Self {
        Self { maker, ..self }
    }

    /// As on the command line.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The file's format, for people.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// Whose figures these are: logs belong to the tool that wrote them.
    pub(super) fn maker(self) -> &'static str {
        self.maker
    }
}
