/** A reason that stops the start. The message is one line for the operator; no stack is shown. */
export class StartError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StartError'
  }
}
