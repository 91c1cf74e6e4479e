// @ts-check

/** Something the person at the keyboard must mend; shown as one line, without a stack. */
export class SetupError extends Error {
  /**
   * @param {string} message
   * @param {string} [log] the file that holds what the failed program said
   */
  constructor(message, log) {
    super(message)
    this.log = log
  }
}
