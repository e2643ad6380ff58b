"""`python -m candidates`: the same as `base-branch`."""

from candidates.main import main

if __name__ == "__main__":
    main()
