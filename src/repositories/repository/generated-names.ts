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
export function isGenerated(path: string): boolean {
  return generated.some((pattern) => pattern.test(path))
}
