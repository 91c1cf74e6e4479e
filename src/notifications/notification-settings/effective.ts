import type { Db } from '../../store/schema.ts'
import type { EventChoices } from './levels.ts'
import { isVerifiedAddress, listSettingsAbove, type NotificationSettingRow } from './queries.ts'

export interface EffectiveSetting {
  readonly level: NotificationSettingRow['level']
  readonly events: EventChoices
  /** Where mail goes instead of the user's first address. */
  readonly email: string | null
}

/**
 * What counts for somebody in a project or group: the setting there, or the first further up that does not say
 * `global`, or the global one (docs/contract/A-resolved §13).
 */
export async function effectiveSetting(
  db: Db,
  userId: number,
  place: { readonly projectId?: number | undefined; readonly namespaceId: number },
): Promise<EffectiveSetting> {
  const rows = await listSettingsAbove(db, userId, place)
  const global = rows.find((row) => row.source_type === 'instance')
  const decides = rows.find((row) => row.level !== 'global')
  return {
    level: decides?.level ?? 'participating',
    events: decides ? readEvents(decides) : {},
    email: await stillVerified(db, userId, global?.notification_email ?? null),
  }
}

/** The address that was chosen for mails, as long as it is the user's: they may have removed it since. */
export async function stillVerified(
  db: Db,
  userId: number,
  email: string | null,
): Promise<string | null> {
  return email !== null && (await isVerifiedAddress(db, userId, email)) ? email : null
}

export function readEvents(row: Pick<NotificationSettingRow, 'events'>): EventChoices {
  return JSON.parse(row.events) as EventChoices // written by us
}
