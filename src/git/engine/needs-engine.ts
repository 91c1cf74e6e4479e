/** The main process must not do this itself: an engine process is asked instead. */
export class NeedsEngine extends Error {}
