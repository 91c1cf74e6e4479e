/** Whether a client or tool is there that tests need. Where CI is set it must be: no test is left out there unseen. */
export function isThere(name: string, found: boolean): boolean {
  if (!found && process.env.CI) throw new Error(`tests need ${name}, which is not there`)
  return found
}
