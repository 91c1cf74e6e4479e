import type { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { filledText, flag, hash, id, oneOf, text } from '../../http/params.ts'
import { getTargetNamespace } from '../../projects/projects/create/access.ts'
import { makeRoom } from './make-room.ts'

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

/** The project to create for an import, at a path that is free by then (with `overwrite`). */
export async function importFacts(ctx: Ctx, body: z.infer<z.ZodObject<typeof importBody>>) {
  const target = await getTargetNamespace(ctx, body.namespace)
  if (body.overwrite) await makeRoom(ctx, `${target.fullPath}/${body.path}`)
  return {
    name: body.name ?? body.path,
    path: body.path,
    namespace: target.id,
    description: body.override_params?.description,
    visibility: body.override_params?.visibility,
    importType: 'gitstead_project',
    importStatus: 'scheduled',
  } as const
}
