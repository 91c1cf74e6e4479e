import type { Reach } from '../../base/outbound/outbound-guard.ts'
import type { Ctx } from '../../ctx.ts'
import type { HookKind } from '../../store/schema/hooks.ts'

/** Whether hooks may go into private networks: as administrators have set it, for their own hooks and those of others. */
export function reachOf({ settings }: Pick<Ctx, 'settings'>, kind: HookKind): Reach {
  if (kind === 'system') return { local: settings.get('allow_local_requests_from_system_hooks') }
  return {
    local:
      settings.get('allow_local_requests_from_web_hooks_and_services') ||
      settings.get('allow_local_requests_from_hooks_and_services'),
  }
}
