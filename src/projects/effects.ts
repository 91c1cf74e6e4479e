import type { Effect } from '../ctx.ts'

/** What a push did to one ref, as the feed shows it (docs/contract/D §1.28). */
export interface PushData {
  readonly commit_count: number
  readonly action: 'created' | 'removed' | 'pushed'
  readonly ref_type: 'branch' | 'tag'
  readonly commit_from: string | null
  readonly commit_to: string | null
  readonly ref: string
  readonly commit_title: string | null
  readonly ref_count: number | null
}

/** Something that somebody did, as the feed of a project and of its author shows it. */
export interface Activity {
  readonly projectId: number | null
  /** The word of the feed: `opened`, `closed`, `commented on`, `pushed to` … */
  readonly action: string
  readonly targetType?: string | undefined
  readonly targetId?: number | undefined
  readonly targetIid?: number | undefined
  readonly targetTitle?: string | undefined
  readonly pushData?: PushData | undefined
  readonly noteId?: number | undefined
  /** Who did it, when it is not the caller. */
  readonly authorId?: number | undefined
}

export interface ProjectChange {
  readonly id: number
  readonly change: 'create' | 'destroy' | 'rename' | 'transfer' | 'update'
  /** The full path before a rename or transfer. */
  readonly oldPath?: string | undefined
}

export interface GroupChange {
  readonly id: number
  readonly change: 'create' | 'destroy' | 'rename'
  /** The paths before a rename. */
  readonly old?: { readonly path: string; readonly full_path: string } | undefined
}

export interface MemberChange {
  readonly source: { readonly type: 'group' | 'project'; readonly id: number }
  readonly change: 'member_added' | 'member_changed' | 'member_removed' | 'requested' | 'denied'
  readonly userId: number
  readonly level: number
}

declare module '../ctx.ts' {
  /** What follows from changes of projects, groups and members, each in the transaction of the change unless it says otherwise. */
  interface Effects {
    readonly activity: readonly Effect<Activity>[]
    /** The effects of a removal run before the row changes. */
    readonly projectChanged: readonly Effect<ProjectChange>[]
    readonly groupChanged: readonly Effect<GroupChange>[]
    /** A group with all below it has other groups above it than before. */
    readonly groupTransferred: readonly Effect<{ readonly groupId: number }>[]
    /** A new project has an empty repository and is not shown yet; outside any transaction. */
    readonly repositoryMade: readonly Effect<{
      readonly projectId: number
      readonly name: string
      readonly description: string | null
      readonly defaultBranch: string
      readonly withReadme: boolean
      /** The project whose files it begins with. */
      readonly templateId: number | undefined
    }>[]
    /** The repository of a hidden project was removed, its row is next; outside any transaction. */
    readonly projectErased: readonly Effect<{ readonly projectId: number }>[]
    readonly groupErased: readonly Effect<{ readonly groupId: number }>[]
    readonly memberChanged: readonly Effect<MemberChange>[]
    /** Somebody who left is to be taken off what they were responsible for. */
    readonly memberUnassigned: readonly Effect<Pick<MemberChange, 'source' | 'userId'>>[]
    /** Somebody asks for access; these people decide. */
    readonly accessRequested: readonly Effect<{
      readonly source: MemberChange['source']
      readonly deciders: readonly number[]
    }>[]
    /** The request of a user was decided or withdrawn. */
    readonly accessDecided: readonly Effect<Pick<MemberChange, 'source' | 'userId'>>[]
  }
}
