import { projectRecord } from '../../access/records.ts'
import { notFound } from '../../base/problem.ts'
import { id } from '../../http/params.ts'
import { findSecureFile } from './queries.ts'

export const onSecureFile = projectRecord('read_secure_files', {
  params: { secure_file_id: id() },
  async find({ ctx, project, params }) {
    const secureFile = await findSecureFile(ctx.db, project.id, params.secure_file_id)
    if (!secureFile) throw notFound('SecureFile')
    return { secureFile }
  },
})
