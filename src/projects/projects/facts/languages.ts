/** Programming and markup languages by the endings of their files; prose and data do not count. */
const endings: Readonly<Record<string, string>> = {
  Ada: '.adb .ads',
  Assembly: '.asm .s',
  Astro: '.astro',
  Batchfile: '.bat .cmd',
  C: '.c .h',
  'C#': '.cs',
  'C++': '.cpp .cc .cxx .hpp .hh .hxx',
  CMake: 'cmakelists.txt .cmake',
  CSS: '.css',
  Clojure: '.clj .cljs .cljc',
  CoffeeScript: '.coffee',
  'Common Lisp': '.lisp',
  Crystal: '.cr',
  Cuda: '.cu',
  D: '.d',
  Dart: '.dart',
  Dockerfile: 'dockerfile .dockerfile containerfile',
  Elixir: '.ex .exs',
  Elm: '.elm',
  'Emacs Lisp': '.el',
  Erlang: '.erl .hrl',
  'F#': '.fs .fsx',
  Fortran: '.f90 .f .f95',
  Go: '.go',
  Groovy: '.groovy .gradle jenkinsfile',
  HCL: '.tf .hcl',
  HTML: '.html .htm',
  Haskell: '.hs',
  Java: '.java',
  JavaScript: '.js .mjs .cjs .jsx',
  Julia: '.jl',
  'Jupyter Notebook': '.ipynb',
  Kotlin: '.kt .kts',
  Less: '.less',
  Lua: '.lua',
  Makefile: 'makefile .mk gnumakefile',
  Nim: '.nim',
  Nix: '.nix',
  OCaml: '.ml .mli',
  'Objective-C': '.m .mm',
  PHP: '.php',
  PLpgSQL: '.pgsql',
  Pascal: '.pas',
  Perl: '.pl .pm',
  PowerShell: '.ps1 .psm1',
  Python: '.py .pyi .pyw',
  R: '.r',
  Raku: '.raku',
  Ruby: '.rb .rake rakefile gemfile .gemspec',
  Rust: '.rs',
  SCSS: '.scss',
  Sass: '.sass',
  Scala: '.scala .sc',
  Scheme: '.scm .ss',
  Shell: '.sh .bash .zsh .ksh',
  Smarty: '.tpl',
  Solidity: '.sol',
  Svelte: '.svelte',
  Swift: '.swift',
  Tcl: '.tcl',
  TeX: '.tex',
  TypeScript: '.ts .tsx .mts .cts',
  VHDL: '.vhd .vhdl',
  Verilog: '.v .sv',
  'Vim Script': '.vim',
  'Visual Basic .NET': '.vb',
  Vue: '.vue',
  XSLT: '.xsl .xslt',
  Zig: '.zig',
}

const byEnding = new Map(
  Object.entries(endings).flatMap(([language, words]) =>
    words.split(' ').map((word) => [word, language] as const),
  ),
)

/** Most languages that are answered. */
const MOST = 50

/** Percent of each language by bytes, two digits behind the point, the largest first. */
export function languageShares(sizes: ReadonlyMap<string, number>): Record<string, number> {
  const bytes = new Map<string, number>()
  for (const [ending, size] of sizes) {
    const language = byEnding.get(ending)
    if (language && size > 0) bytes.set(language, (bytes.get(language) ?? 0) + size)
  }
  const total = [...bytes.values()].reduce((sum, size) => sum + size, 0)
  const sorted = [...bytes].toSorted(([, a], [, b]) => b - a).slice(0, MOST)
  return Object.fromEntries(
    sorted.map(([language, size]) => [language, Math.round((size / total) * 10_000) / 100]),
  )
}
