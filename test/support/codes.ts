import { Secret, TOTP } from 'otpauth'
import { givePassword, PASSWORD } from './submit-form.ts'
import type { Caller, World } from './world.ts'

/** The code that an authenticator app shows at a time. */
export function codeAt(secret: string, now: string): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.parse(now) })
}

/** Turns codes of an app on for somebody with the common password; the app has used the code of `at`. */
export async function withApp(world: World, caller: Caller, at: string) {
  await givePassword(world, caller.id)
  world.setNow(at)
  const offered = await caller.post('/user/two_factor/app', { current_password: PASSWORD })
  const secret = String(offered.body.secret)
  const done = await caller.put('/user/two_factor/app', { code: codeAt(secret, at) })
  return { secret, codes: done.body.recovery_codes as string[] }
}
