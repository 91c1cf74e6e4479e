import { audit } from '../../access/audit.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { callerId } from '../users/find-user.ts'
import {
  type ApplicationRow,
  type DeviceRow,
  decideDevice as decideDeviceRow,
  findApplication,
  findDevice,
} from './queries.ts'

/** A device that asks to be connected, with the application that runs on it. */
export interface WaitingDevice {
  readonly device: DeviceRow
  readonly application: ApplicationRow
}

/** The code as it was typed, with whatever signs and case. */
export function readUserCode(sent: string): string {
  return sent.toUpperCase().replaceAll(/[^A-Z0-9]/g, '')
}

/** The device that waits for a decision under this code. */
export async function findWaitingDevice(
  ctx: Ctx,
  userCode: string,
): Promise<WaitingDevice | undefined> {
  const device = await findDevice(ctx.db, { userCode })
  if (!device || device.expires_at <= ctx.now()) return undefined
  if (device.user_id !== null || device.denied === 1) return undefined
  const application = await findApplication(ctx.db, device.application_id)
  return application && { device, application }
}

/** Lets a device use the caller's account, or refuses it; the first decision counts. */
export async function decideDevice(
  ctx: Ctx,
  { device, application }: WaitingDevice,
  allowed: boolean,
): Promise<void> {
  const userId = callerId(ctx)
  await inTransaction(ctx, async (inner) => {
    const decision = allowed ? { user_id: userId } : ({ denied: 1 } as const)
    const wasFirst = await decideDeviceRow(inner.db, device.id, decision)
    if (!wasFirst || !allowed) return
    await audit(inner, {
      entity: { type: 'User', id: userId },
      action: 'device_authorized',
      details: { application: application.name },
    })
  })
}
