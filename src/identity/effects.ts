import type { ProviderRole } from '../base/providers/provider.ts'
import type { Effect } from '../ctx.ts'
import type { SshKeyRow } from './keys/queries.ts'
import type { UserRow } from './users/queries.ts'

/** What somebody is to be in the groups that a sign-in provider has a say in. */
export interface ProvidedRoles {
  readonly userId: number
  readonly provider: string
  /** By the path of the group; undefined for no member. */
  readonly granted: ReadonlyMap<string, ProviderRole | undefined>
}

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
    /** A sign-in provider has said of which groups somebody is a member; outside any transaction. */
    readonly rolesProvided: readonly Effect<ProvidedRoles>[]
    readonly passwordChanged: readonly Effect<{ readonly userId: number }>[]
    /** What belongs to a user goes first, outside any transaction; a second run finds what is left. */
    readonly userLeaving: readonly Effect<{ readonly userId: number; readonly hard: boolean }>[]
    /** The rows of the user are about to go. */
    readonly userRemoved: readonly Effect<UserRow>[]
    readonly keyAdded: readonly Effect<SshKeyRow>[]
    readonly keyRemoved: readonly Effect<SshKeyRow>[]
  }
}
