import { z } from 'zod'
import { type FileDiff, withFileNames } from '../../git/diff.ts'
import { isGenerated } from './generated.ts'

/** One changed file (spec B-resolved §1.5). */
export const diffEntity = z.strictObject({
  diff: z.string(),
  collapsed: z.boolean(),
  too_large: z.boolean(),
  new_path: z.string(),
  old_path: z.string(),
  a_mode: z.string(),
  b_mode: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  generated_file: z.boolean(),
})

export function presentDiff(
  file: FileDiff,
  options: { readonly unidiff?: boolean | undefined },
): z.input<typeof diffEntity> {
  return {
    diff: options.unidiff ? withFileNames(file) : file.diff,
    collapsed: file.collapsed,
    too_large: file.tooLarge,
    new_path: file.newPath,
    old_path: file.oldPath,
    a_mode: file.oldMode,
    b_mode: file.newMode,
    new_file: file.newFile,
    renamed_file: file.renamedFile,
    deleted_file: file.deletedFile,
    generated_file: isGenerated(file.newPath),
  }
}
