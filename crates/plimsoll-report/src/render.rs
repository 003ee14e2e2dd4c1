//! Documents for terminals and as pages. Renderers decide nothing: which blocks there are, where and in which order is
//! decided by those who build the document.

pub(crate) mod html;
pub(crate) mod text;
