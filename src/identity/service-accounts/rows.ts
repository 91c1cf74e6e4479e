/** The group or project that a service account belongs to. */
export interface AccountPlace {
  readonly type: 'group' | 'project'
  readonly id: number
}

export interface ServiceAccountRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly unconfirmed_email: string | null
}
