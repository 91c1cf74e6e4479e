import { isAdmin } from '../../access/actor.ts'
import { mayOr } from '../../access/conditions.ts'
import type { Access } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'

/** Addresses of this machine, as sockets of both families show them. */
const LOCAL = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/

function assertAdminOr(ctx: Ctx, isLocal: boolean): void {
  const may = mayOr(ctx, isLocal || isAdmin(ctx.actor))
  if (may !== true) throw may
}

/** Administrators, and whatever runs on this machine. */
export function onThisMachine(): Access<Record<never, never>> {
  return {
    kind: 'custom',
    needs: 'admin or this machine',
    subjectFirst: true,
    before: (ctx) => assertAdminOr(ctx, LOCAL.test(ctx.ip)),
    async find({ ctx, headers }) {
      // A proxy on this machine whose headers the settings do not trust brings requests of others.
      const { forwarded, 'x-forwarded-for': forwardedFor } = headers
      assertAdminOr(ctx, forwarded === undefined && forwardedFor === undefined)
      return {}
    },
  }
}
