/** The page on which a document is labeled. */
export function documentAddress(artifactId: string): string {
  return `/label/${artifactId}`;
}

/** The page on which a submitted tag set is reviewed. */
export function reviewAddress(itemId: string): string {
  return `/review/${itemId}`;
}
