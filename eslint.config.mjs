// The script as it is shipped, in one scope, so that names that nothing uses are found. Unknown names are found by tsc.
import js from "@eslint/js";

export default [
  {
    files: ["build/explorer.js"],
    languageOptions: { ecmaVersion: 2023, sourceType: "script" },
    rules: {
      ...js.configs.recommended.rules,
      "no-undef": "off",
      "no-unused-vars": ["error", { ignoreRestSiblings: true }],
      eqeqeq: "error",
      "no-var": "error",
      "prefer-const": ["error", { destructuring: "all" }],
      "no-unused-expressions": "error",
      "no-implied-eval": "error",
    },
  },
  { ignores: ["**/*", "!build/", "!build/explorer.js"] },
];
