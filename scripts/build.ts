/**
 * Compiles src/ into dist/, as tsconfig.build.json says, without the failpoints: their calls, the import of them and
 * their files are for tests (docs/architecture.md, "Kill points"). Run by `npm run build`.
 */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const MODULE = '#failpoint';
const CALL = 'failpoint';
const FILES = '/src/runtime/failpoints/';

/**
 * Compiles. Throws with the compiler's diagnostics, and where a failpoint stands where it cannot be taken out.
 * @param overrides put over the options of tsconfig.build.json
 */
export function build(overrides: ts.CompilerOptions = {}): void {
  const path = ts.findConfigFile(ROOT, (file) => ts.sys.fileExists(file), 'tsconfig.build.json');
  if (path === undefined) throw new Error('tsconfig.build.json is missing');
  const host: ts.ParseConfigFileHost = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => refuse([diagnostic]),
  };
  const config = ts.getParsedCommandLineOfConfigFile(path, overrides, host);
  if (config === undefined) throw new Error('tsconfig.build.json cannot be read');
  const program = ts.createProgram(config.fileNames, config.options);
  // Without declarations nothing is checked: a caller that wants only the text need not wait.
  refuse([
    ...config.errors,
    ...(config.options.declaration === true ? ts.getPreEmitDiagnostics(program) : []),
  ]);
  for (const file of program.getSourceFiles()) {
    if (program.isSourceFileFromExternalLibrary(file) || file.isDeclarationFile) continue;
    if (file.fileName.includes(FILES)) continue;
    refuse(program.emit(file, undefined, undefined, false, { before: [withoutFailpoints] }).diagnostics);
  }
}

function refuse(diagnostics: readonly ts.Diagnostic[]): void {
  if (diagnostics.length === 0) return;
  throw new Error(
    ts.formatDiagnostics(diagnostics, {
      getCanonicalFileName: (name) => name,
      getCurrentDirectory: () => ROOT,
      getNewLine: () => '\n',
    }),
  );
}

/** Takes out the import and every call; refuses to compile where the name is used in another way. */
export const withoutFailpoints: ts.TransformerFactory<ts.SourceFile> = (context) => (file) => {
  const visit = (node: ts.Node): ts.Node | undefined => {
    if (isImport(node)) return undefined;
    if (isCall(node) && (ts.isBlock(node.parent) || ts.isSourceFile(node.parent))) return undefined;
    if (ts.isIdentifier(node) && node.text === CALL) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
      throw new Error(`${file.fileName}:${line + 1}: a failpoint must be a statement of its own in a block`);
    }
    return ts.visitEachChild(node, visit, context);
  };
  return ts.visitEachChild(file, visit, context);
};

function isImport(node: ts.Node): boolean {
  return (
    ts.isImportDeclaration(node) &&
    ts.isStringLiteral(node.moduleSpecifier) &&
    node.moduleSpecifier.text === MODULE
  );
}

function isCall(node: ts.Node): node is ts.ExpressionStatement {
  return (
    ts.isExpressionStatement(node) &&
    ts.isCallExpression(node.expression) &&
    ts.isIdentifier(node.expression.expression) &&
    node.expression.expression.text === CALL
  );
}

if (import.meta.main) {
  try {
    build();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
