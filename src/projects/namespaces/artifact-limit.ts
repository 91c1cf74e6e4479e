import type { Ctx } from '../../ctx.ts'

/** Whether artifacts may be as large as this without an administrator's word. */
export function isWithinInstance({ settings }: Pick<Ctx, 'settings'>, size: unknown): boolean {
  return typeof size !== 'number' || size <= settings.get('max_artifacts_size')
}

/** Settings from elsewhere, such as an archive's, without the limits that only administrators may set. */
export function withinInstance(
  ctx: Pick<Ctx, 'settings'>,
  settings: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { max_artifacts_size: size, repository_size_limit: _, ...others } = settings
  const isKept = size !== undefined && isWithinInstance(ctx, size)
  return isKept ? { ...others, max_artifacts_size: size } : others
}
