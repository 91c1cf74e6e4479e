/** A stored file that is named by a row and is not in the store as it was put there. */
export class LostFile extends Error {
  constructor(sha256: string) {
    super(`the stored file ${sha256} is missing or cut off`)
    this.name = 'LostFile'
  }
}

/** What people see of it. */
export const lostFileText =
  'The file is damaged: its content is missing on the server. An administrator has to restore it, or it has to be uploaded again.'
