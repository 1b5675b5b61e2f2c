import subprocess
import sys
from pathlib import Path


def test_console_blocks_show_what_the_program_prints():
    script = Path(__file__).parent.parent / "docs" / "refresh.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr}Run: make docs"
