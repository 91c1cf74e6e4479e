import type { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { filledText, flag, hash, id, oneOf, text } from '../../http/params.ts'
import { findReplaced, untilThen } from './replace.ts'

const MEBIBYTE = 1024 * 1024

/** Most bytes of an archive that comes in, or of one that is made, as administrators have set it in mebibytes; 0 is no limit. */
export function mostBytes(
  { settings }: Pick<Ctx, 'settings'>,
  name: 'max_import_size' | 'max_export_size',
): number {
  return settings.get(name) * MEBIBYTE || Number.POSITIVE_INFINITY
}

/** What an import of a project asks for, wherever its archive comes from. */
export const importBody = {
  path: filledText(),
  name: text().optional(),
  namespace: id().or(text()).optional(),
  overwrite: flag().optional(),
  override_params: hash({
    description: text().optional(),
    visibility: oneOf(['private', 'internal', 'public']).optional(),
  }).optional(),
}

/**
 * The project to create for an import, and what the task that fills it has to know. With `overwrite` the project waits
 * beside the one that is there, and takes its place when the import has succeeded.
 */
export async function importFacts(ctx: Ctx, body: z.infer<z.ZodObject<typeof importBody>>) {
  const { path, name = path, namespace } = body
  const { description, visibility } = body.override_params ?? {}
  const replaces = body.overwrite ? await findReplaced(ctx, { name, path, namespace }) : undefined
  const project = {
    ...(replaces ? untilThen(replaces) : { name, path }),
    namespace,
    description,
    visibility,
    importType: 'gitstead_project',
    importStatus: 'scheduled',
    privateUntilFilled: true,
  } as const
  return { project, fill: { replaces, visibility } }
}
