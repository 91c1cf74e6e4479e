import { countedCache } from '../../base/byte-cache.ts'
import { sharingAddress } from '../../base/outbound/address.ts'
import { forbidden } from '../../base/problem.ts'
import type { SettingValues } from '../setting-definitions.ts'

/** Somebody at an address. */
export interface Visit {
  readonly userId: number
  readonly ip: string
  /** In milliseconds. */
  readonly now: number
}

type Limits = Pick<
  SettingValues,
  'unique_ips_limit_enabled' | 'unique_ips_limit_per_user' | 'unique_ips_limit_time_window'
>

const MOST_PEOPLE = 50_000

/**
 * From how many addresses people are let in at a time (`unique_ips_limit_*`), in memory. An address that is one too many is
 * refused and not counted: whoever has stolen a password shuts nobody out who was here before.
 */
export class AddressLimit {
  readonly #seen = countedCache<Map<string, number>>(MOST_PEOPLE)

  /** Throws 403 where somebody came from as many other addresses within the time. */
  assertFew({ userId, ip, now }: Visit, limits: Limits): void {
    const { unique_ips_limit_per_user: most, unique_ips_limit_time_window: seconds } = limits
    if (!limits.unique_ips_limit_enabled || most === null || seconds === null || ip === '') return
    const seen = this.#seen.get(String(userId)) ?? new Map<string, number>()
    const since = now - seconds * 1000
    for (const [address, at] of seen) if (at <= since) seen.delete(address)
    const address = sharingAddress(ip)
    if (!seen.has(address) && seen.size >= most) {
      throw forbidden(`Too many logins from different IPs. Try again in ${seconds} seconds.`)
    }
    seen.set(address, now)
    this.#seen.set(String(userId), seen)
  }
}
