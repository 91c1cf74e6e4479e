export interface ServiceAccountRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly unconfirmed_email: string | null
}
