/** Types that no browser runs; everything else goes out as plain bytes. */
const types: Readonly<Record<string, string>> = {
  bz2: 'application/x-bzip2',
  deb: 'application/vnd.debian.binary-package',
  gif: 'image/gif',
  gz: 'application/gzip',
  jar: 'application/java-archive',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  md: 'text/plain',
  pdf: 'application/pdf',
  png: 'image/png',
  rpm: 'application/x-rpm',
  sha256: 'text/plain',
  tar: 'application/x-tar',
  tgz: 'application/gzip',
  txt: 'text/plain',
  xz: 'application/x-xz',
  zip: 'application/zip',
  zst: 'application/zstd',
}

/** The content type of a download, by the end of its name. */
export function typeOf(fileName: string): string {
  const end = fileName.split('.').at(-1)?.toLowerCase() ?? ''
  return (Object.hasOwn(types, end) ? types[end] : undefined) ?? 'application/octet-stream'
}
