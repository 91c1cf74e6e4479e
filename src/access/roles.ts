/** Access levels as they stand on the wire (docs/contract/A §Access levels). */
export const Role = {
  none: 0,
  minimal: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
  admin: 60,
} as const

export type Role = (typeof Role)[keyof typeof Role]

/** The levels that a member may be given. */
export const MEMBER_LEVELS = [10, 15, 20, 30, 40, 50] as const

export type Visibility = 'private' | 'internal' | 'public'

/** Visibility as a number, so that "not more visible than its parent" is a comparison. */
export const visibilityRank: Readonly<Record<Visibility, number>> = {
  private: 0,
  internal: 10,
  public: 20,
}

/** A visibility and all that are less visible, the most visible first. */
export function levelsUpTo(visibility: Visibility): Visibility[] {
  const all = ['public', 'internal', 'private'] as const
  return all.filter((level) => visibilityRank[level] <= visibilityRank[visibility])
}
