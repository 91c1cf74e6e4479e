/** Where a list of projects looks. */
export type Scope =
  | { readonly kind: 'all' }
  | {
      readonly kind: 'group'
      readonly groupId: number
      readonly subgroups: boolean
      readonly ancestors: boolean
      readonly shared: boolean
    }
  | { readonly kind: 'shared_with'; readonly groupId: number }
  | { readonly kind: 'user'; readonly userId: number }
  | { readonly kind: 'starred'; readonly userId: number }
  | { readonly kind: 'contributed'; readonly userId: number }
  | { readonly kind: 'forks'; readonly projectId: number }

/** What a list of projects may be narrowed by (docs/contract/D §1.2 List filters). */
export interface ProjectFilters {
  readonly archived?: boolean | undefined
  readonly active?: boolean | undefined
  readonly visibility?: string | undefined
  readonly search?: string | undefined
  readonly search_namespaces?: boolean | undefined
  readonly owned?: boolean | undefined
  readonly membership?: boolean | undefined
  readonly starred?: boolean | undefined
  readonly imported?: boolean | undefined
  readonly with_issues_enabled?: boolean | undefined
  readonly with_merge_requests_enabled?: boolean | undefined
  readonly with_programming_language?: string | undefined
  readonly language?: string | undefined
  readonly min_access_level?: number | undefined
  readonly id_after?: number | undefined
  readonly id_before?: number | undefined
  readonly last_activity_after?: string | undefined
  readonly last_activity_before?: string | undefined
  readonly updated_after?: string | undefined
  readonly updated_before?: string | undefined
  readonly topic?: readonly string[] | undefined
  readonly topic_id?: number | undefined
  readonly marked_for_deletion_on?: string | undefined
  readonly include_pending_delete?: boolean | undefined
  readonly repository_storage?: string | undefined
  readonly custom_attributes?: Readonly<Record<string, string>> | undefined
  readonly order_by?: string | undefined
  readonly sort?: 'asc' | 'desc' | undefined
}
