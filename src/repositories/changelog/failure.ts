/** Why a changelog could not be made, in the words of docs/contract/B-resolved §1.8 rule 2: the `<reason>` of the 422. */
export class ChangelogFailure extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'ChangelogFailure'
  }
}
