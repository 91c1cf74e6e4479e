import { z } from 'zod'
import { type FileDiff, type PrintedDiff, withFileNames } from '../../git/diff/diff.ts'

/** Names of files that programs write: lock files, minified and generated sources. */
const generated: readonly RegExp[] = [
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/,
  /(^|\/)(Gemfile\.lock|Cargo\.lock|composer\.lock|poetry\.lock|Pipfile\.lock|uv\.lock|pdm\.lock)$/,
  /(^|\/)(go\.sum|Gopkg\.lock|glide\.lock|mix\.lock|flake\.lock|Package\.resolved|Podfile\.lock)$/,
  /(^|\/)(pubspec\.lock|deno\.lock|gradle\.lockfile|packages\.lock\.json|\.terraform\.lock\.hcl)$/,
  /\.min\.(js|css)$/,
  /\.(js|css)\.map$/,
  /\.pb\.(go|cc|h|gw\.go)$/,
  /_pb2(_grpc)?\.pyi?$/,
  /_pb\.(js|d\.ts|rb)$/,
  /\.designer\.(cs|vb)$/i,
  /(^|\/)(node_modules|Godeps)\//,
]

/** Whether a file is one that programs write, by its name; such files are folded in reviews. */
function isGenerated(path: string): boolean {
  return generated.some((pattern) => pattern.test(path))
}

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

function presentFile(file: Omit<FileDiff, 'diff'>): Omit<z.input<typeof diffEntity>, 'diff'> {
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
    generated_file: isGenerated(file.newPath),
  }
}

export function presentDiff(
  file: FileDiff,
  options: { readonly unidiff?: boolean | undefined },
): z.input<typeof diffEntity> {
  return { diff: options.unidiff ? withFileNames(file) : file.diff, ...presentFile(file) }
}

/** The files of a diff as the text of a JSON list, in pieces. */
export function printDiffs({ files, patches, ends }: PrintedDiff): Buffer[] {
  const pieces: Buffer[] = [Buffer.from('[')]
  let start = 0
  for (const [i, file] of files.entries()) {
    const end = ends[i] ?? start
    const rest = JSON.stringify(presentFile(file)).slice(1)
    pieces.push(Buffer.from(i === 0 ? '{"diff":' : ',{"diff":'), patches.subarray(start, end))
    pieces.push(Buffer.from(`,${rest}`))
    start = end
  }
  pieces.push(Buffer.from(']'))
  return pieces
}
