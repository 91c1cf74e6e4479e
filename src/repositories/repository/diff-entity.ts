import { z } from 'zod'
import { type FileDiff, type PrintedDiff, withFileNames } from '../../git/diff/diff.ts'
import type { Repo } from '../../git/repo.ts'
import { type ShownAs, shownAs } from './attributes.ts'

/** One changed file (docs/contract/B-resolved §1.5). */
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

/** How the files of a diff are shown. */
type Shown = (path: string) => Pick<ShownAs, 'generated'>

function presentFile(
  file: Omit<FileDiff, 'diff'>,
  shown: Shown,
): Omit<z.input<typeof diffEntity>, 'diff'> {
  return {
    collapsed: file.collapsed,
    too_large: file.tooLarge,
    new_path: file.newPath,
    old_path: file.oldPath,
    a_mode: file.oldMode,
    b_mode: file.newMode,
    new_file: file.newFile,
    renamed_file: file.renamedFile,
    deleted_file: file.deletedFile,
    generated_file: shown(file.newPath).generated,
  }
}

export function presentDiff(
  file: FileDiff,
  options: { readonly unidiff?: boolean | undefined },
  shown: Shown,
): z.input<typeof diffEntity> {
  return { diff: options.unidiff ? withFileNames(file) : file.diff, ...presentFile(file, shown) }
}

/** The files of a diff as the text of a JSON list, in pieces. */
export function printDiffs({ files, patches, ends }: PrintedDiff, shown: Shown): Buffer[] {
  const pieces: Buffer[] = [Buffer.from('[')]
  let start = 0
  for (const [i, file] of files.entries()) {
    const end = ends[i] ?? start
    const rest = JSON.stringify(presentFile(file, shown)).slice(1)
    pieces.push(Buffer.from(i === 0 ? '{"diff":' : ',{"diff":'), patches.subarray(start, end))
    pieces.push(Buffer.from(`,${rest}`))
    start = end
  }
  pieces.push(Buffer.from(']'))
  return pieces
}

/** How the files of a diff are shown, as the commit that it leads to has it. */
export function shownIn(
  repo: Repo,
  ref: string,
  files: readonly Pick<FileDiff, 'newPath'>[],
  signal?: AbortSignal,
): Promise<Shown> {
  const paths = files.map((file) => file.newPath)
  return shownAs(repo, ref, paths, signal)
}
