import type { Effect } from '../ctx.ts'
import type { SshKeyRow } from './keys/queries.ts'
import type { UserRow } from './users/queries.ts'

declare module '../ctx.ts' {
  /** What follows from changes of people and their keys, each in the transaction of the change unless it says otherwise. */
  interface Effects {
    readonly userCreated: readonly Effect<UserRow>[]
    /** The name or the username is another. */
    readonly userRenamed: readonly Effect<{
      readonly user: UserRow
      readonly oldUsername: string
    }>[]
    /** Somebody proved that an address is theirs. */
    readonly addressConfirmed: readonly Effect<{
      readonly userId: number
      readonly email: string
    }>[]
    /** Somebody who is blocked gave the right password at the page. */
    readonly signInRefused: readonly Effect<{ readonly id: number }>[]
    readonly passwordChanged: readonly Effect<{ readonly userId: number }>[]
    /** What belongs to a user goes first, outside any transaction; a second run finds what is left. */
    readonly userLeaving: readonly Effect<{ readonly userId: number; readonly hard: boolean }>[]
    /** The rows of the user are about to go. */
    readonly userRemoved: readonly Effect<UserRow>[]
    readonly keyAdded: readonly Effect<SshKeyRow>[]
    readonly keyRemoved: readonly Effect<SshKeyRow>[]
  }
}
