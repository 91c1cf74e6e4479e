import type { z } from 'zod'
import { filledText, flag, hash, id, oneOf, text } from '../../http/params.ts'
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

/** The project to create for an import; with `overwrite` it takes the path of the one that is there. */
export function importFacts(body: z.infer<z.ZodObject<typeof importBody>>) {
  return {
    name: body.name ?? body.path,
    path: body.path,
    namespace: body.namespace,
    makeRoom: body.overwrite ? makeRoom : undefined,
    description: body.override_params?.description,
    visibility: body.override_params?.visibility,
    importType: 'gitstead_project',
    importStatus: 'scheduled',
  } as const
}
