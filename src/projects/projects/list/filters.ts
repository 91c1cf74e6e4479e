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
