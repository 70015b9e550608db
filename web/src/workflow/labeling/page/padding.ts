/** Beside and above the pages, in pixels: what the pane needs besides the page. */
export const PADDING = 32;
